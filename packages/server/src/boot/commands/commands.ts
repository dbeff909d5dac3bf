import { randomUUID } from 'node:crypto'
import { commandTrail, keyFingerprint, transactWithEntry, writeEntry } from '../../api/access/audit-trail.ts'
import { developerPermissions, publicPermissions } from '../../api/access/first-permissions.ts'
import { countFormerPublicKeys } from '../../api/access/former-public-keys.ts'
import type { Permissions } from '../../api/access/grants.ts'
import { readPermissions } from '../../api/access/permissions.ts'
import type { Secrets } from '../../api/access/secrets/secrets.ts'
import { rotateSigningKey } from '../../api/access/secrets/signing-keys.ts'
import type { Db } from '../../kernel/db/db.ts'
import { raw, sql } from '../../kernel/db/sql.ts'
import { StartError } from '../../kernel/errors.ts'
import { copyDatabase } from '../backup/database-copy.ts'
import { createConsoleLink } from '../start/console-link.ts'
import { addKey, listKeys } from '../start/first-start.ts'

const names = ['keys', 'create-key', 'console', 'rotate-token-key'] as const

export type CliCommand = {
  /** Of the server that runs: `copy-database` is asked by a backup, `former-public-keys` by `doctor`. */
  command: (typeof names)[number] | 'copy-database' | 'former-public-keys'
  application?: string | undefined
  type?: string
  permissions?: string
  description?: string
}

const lostKeyHint = 'Master keys are not listed. A new one: npm start -- create-key --type master'

export const isCommand = (name: string): name is (typeof names)[number] => (names as readonly string[]).includes(name)

/** What commands work on. */
export type CommandParts = {
  readonly db: Db
  readonly secrets: Secrets
  /** Of the server, for links. */
  readonly address: string
  /** DATA_DIR */
  readonly directory: string
}

/** The text to show. */
export async function runCommand(
  { db, secrets, address, directory }: CommandParts,
  command: CliCommand,
): Promise<string> {
  if (command.command === 'copy-database') return copyDatabase(db, directory)
  if (command.command === 'former-public-keys') return JSON.stringify(await countFormerPublicKeys(db))
  if (command.command === 'create-key') return createKey(db, secrets, command)
  if (command.command === 'console') return showConsoleLink(db, address, command.application)
  if (command.command === 'rotate-token-key') {
    const kid = await rotateSigningKey(db, secrets)
    await writeEntry(db, commandTrail('server.rotateTokenKey'))
    return `Access tokens are signed with ${kid} now.`
  }
  const keys = await listKeys(db, secrets, command.application)
  if (keys.length === 0)
    throw new StartError('There is no such application, or it has no keys. Give the name or the id of an application.')
  await writeEntry(db, commandTrail('apikeys.list'))
  return [...keys, '', lostKeyHint].join('\n')
}

async function createKey(db: Db, secrets: Secrets, command: CliCommand): Promise<string> {
  const { application, type = 'app', permissions = 'developer', description = 'Made on the command line' } = command
  if (type !== 'app' && type !== 'master') throw new StartError('--type must be app or master.')
  const { id } = await findApplication(db, application)
  const key = randomUUID()
  const trail = commandTrail('apikeys.create', {
    applicationId: id,
    target: { type: 'apikeys', id: keyFingerprint(key) },
    changed: ['type', 'permissions', 'description'],
  })
  const granted = permissionsOf(permissions)
  return transactWithEntry(db, trail, (tx) => addKey(tx, secrets, id, type, granted, description, key))
}

async function showConsoleLink(db: Db, address: string, wanted: string | undefined): Promise<string> {
  const { id, name } = await findApplication(db, wanted)
  const link = await createConsoleLink(db, address, { applicationId: id, endsAtRestart: false })
  if (!link) {
    throw new StartError(
      `The application "${name}" has no developer key: one of type app that grants everything, without expiresAt and ` +
        `allowedOrigins. Make one: npm start -- create-key --application "${name}"`,
    )
  }
  await writeEntry(db, commandTrail('console.link', { applicationId: id }))
  return `${link}\n\nIt signs you in, once, within an hour.`
}

/** The application with this name or id; the default one when none is said. */
async function findApplication(db: Db, application: string | undefined): Promise<{ id: string; name: string }> {
  const wanted = application ? sql`name = ${application} OR id::text = ${application}` : raw('is_default')
  const applications = await db.query<{ id: string; name: string }>(
    sql`SELECT id, name FROM svc.applications WHERE ${wanted}`,
  )
  const [only] = applications
  if (!only || applications.length > 1) {
    throw new StartError(`${applications.length} applications are called "${application}". Give the id of one.`)
  }
  return only
}

function permissionsOf(text: string): Permissions {
  if (text === 'developer') return developerPermissions
  if (text === 'public') return publicPermissions
  try {
    return readPermissions(JSON.parse(text))
  } catch (error) {
    throw new StartError(`--permissions: ${(error as Error).message}`)
  }
}
