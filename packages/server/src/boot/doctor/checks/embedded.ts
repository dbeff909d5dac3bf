import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Check, isEmbedded, ok, warning } from '../check.ts'

/** The embedded database, by facts that can be read while a server runs on it. */
export const embeddedChecks: readonly Check[] = [
  {
    name: 'embedded',
    applies: isEmbedded,
    async run({ config: { DATA_DIR } }) {
      const directory = join(DATA_DIR, 'database')
      const folder = await stat(directory).catch(() => undefined)
      if (!folder) return ok(`The first start makes the database in ${directory}.`)
      const holder = holderOf(join(directory, 'graticule.lock'))
      const running = holder === undefined ? 'No server runs on it.' : `Process ${holder} runs on it.`
      if (folder.mode & 0o077)
        return warning(`${directory} is open to other users. ${running}`, `chmod -R go-rwx ${DATA_DIR}`)
      return ok(`The database is in ${directory}. ${running}`)
    },
  },
]

/** The process that holds the lock, if it lives. The file is only read. */
function holderOf(file: string): number | undefined {
  try {
    const lock = new DatabaseSync(file, { readOnly: true })
    const pid = Number(lock.prepare('SELECT pid FROM holder').get()?.pid)
    lock.close()
    process.kill(pid, 0)
    return pid
  } catch {
    return undefined
  }
}
