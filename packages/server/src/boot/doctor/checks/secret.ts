import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createSecrets } from '../../../api/access/secrets/secrets.ts'
import { type Check, fault, isPostgres, ok, warning } from '../check.ts'

/** The secret that seals what the database holds. */
export const secretChecks: readonly Check[] = [
  {
    name: 'secret',
    async run({ config: { SECRET_KEY, DATA_DIR, DATABASE_URL } }) {
      if (SECRET_KEY !== undefined) return ok('SECRET_KEY is set.')
      const file = join(DATA_DIR, 'secret.key')
      const stats = await stat(file).catch(() => undefined)
      if (!stats) return ok(`The first start makes the secret in ${file}.`)
      if (stats.mode & 0o077) return warning(`${file} can be read by other users.`, `chmod 600 ${file}`)
      if (DATABASE_URL === undefined) return ok(`The secret is in ${file}.`)
      return warning(
        `The secret is in ${file}: another replica, or this one without that file, cannot start.`,
        `Set SECRET_KEY to the content of ${file} on every replica.`,
      )
    },
  },
  {
    name: 'fingerprint',
    applies: isPostgres,
    async run({ database, config: { SECRET_KEY, DATA_DIR } }) {
      const client = await database()
      if (!client) return []
      const { rows } = await client
        .query(`SELECT value FROM svc.settings WHERE name = 'secret_fingerprint'`)
        .catch(() => ({ rows: [] }))
      const secret = SECRET_KEY ?? (await readFile(join(DATA_DIR, 'secret.key'), 'utf8').catch(() => undefined))
      const [kept] = rows as { value: string }[]
      if (!kept) return ok('The first start binds the database to the secret.')
      const source = SECRET_KEY === undefined ? join(DATA_DIR, 'secret.key') : 'SECRET_KEY'
      const mend =
        'Set SECRET_KEY to the one that the database was set up with; it is on the other replicas or in a backup.'
      if (secret === undefined) return fault(`The database was set up with a secret, and ${source} is missing.`, mend)
      const isRight = createSecrets(secret.trim()).fingerprint === kept.value
      return isRight
        ? ok(`${source} is the secret of this database.`)
        : fault(`${source} is not the secret that this database was set up with.`, mend)
    },
  },
]
