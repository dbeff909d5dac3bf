import { parseArgs } from 'node:util'
import { hardeningText } from '../kernel/db/schema/hardening.ts'
import { StartError } from '../kernel/errors.ts'
import { type Config, describeConfig, loadConfig } from '../kernel/settings/config.ts'
import { type CliCommand, isCommand, runCommand } from './commands/commands.ts'
import { askControlSocket } from './commands/control-socket.ts'
import { openDatabase, openPlatform } from './platform.ts'
import { type ProcessRunOptions, serve } from './serve.ts'
import { serverAddress } from './start/console-link.ts'
import { masked } from './start/log.ts'

const usage = `Usage: npm start -- [command] [options]

Commands
  serve                Run the server (the default)
                         --empty  without the sample that the first start makes
  doctor               Check all that the server depends on, and say how to mend what is wrong; it changes nothing, may run
                       beside the server, and ends with 1 if it found a fault
                         --json  for programs
  migrate              Bring the database up to date and stop; keys are made by the first start
  hardening            Print the SQL by which a superuser closes the catalogs of PostgreSQL to tenants; it runs nothing
  keys [APPLICATION]   Show the keys of an application, by name or id; of all applications when none is named
  create-key           Make a key and show it:
                         --application NAME|ID  whose (default: the default application)
                         --type app|master      how far it reaches (default: app)
                         --permissions ACL      developer, public, or JSON (default: developer)
                         --description TEXT
  console              Show a link that signs you in to the web console, once, within an hour
                         [APPLICATION]  whose, by name or id (default: the default application)
  backup FILE          Write records, tables, files and the secret into one encrypted file, while the server runs or not
                         --passphrase-file FILE  instead of BACKUP_PASSPHRASE or the terminal
  restore FILE         Fill an empty database and DATA_DIR from it
                         --check                 only look whether it is whole
                         --passphrase-file FILE
  rotate-token-key     Sign access tokens with a new key; those signed before stay valid until they end

Settings (environment variables)
${describeConfig()}
`

const options = {
  help: { type: 'boolean', short: 'h' },
  empty: { type: 'boolean' },
  application: { type: 'string' },
  type: { type: 'string' },
  permissions: { type: 'string' },
  description: { type: 'string' },
  'passphrase-file': { type: 'string' },
  check: { type: 'boolean' },
  json: { type: 'boolean' },
} as const

/** Does what the command line asks for. Ends when that is done or `stop` says so. */
export async function run(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  { stop, ...options }: ProcessRunOptions & { stop: AbortSignal },
): Promise<void> {
  const { values, positionals } = read(args)
  const [command = 'serve', ...rest] = positionals
  if (values.help) return console.log(usage)
  if (command === 'hardening') return console.log(hardeningText)
  if (command === 'doctor') return showDiagnosis(env, values.json ?? false)
  const config = loadConfig(env)
  if (command === 'serve') return serve(config, stop, { isEmpty: values.empty ?? false, ...options })
  if (command === 'migrate') return migrateOnly(config)
  if (command === 'backup' || command === 'restore') {
    const { runBackup, runRestore } = await import('./commands/backup-commands.ts')
    const options = { file: rest[0], passphraseFile: values['passphrase-file'], isCheck: values.check ?? false }
    return console.log(await (command === 'backup' ? runBackup : runRestore)(config, options, stop))
  }
  if (!isCommand(command)) throw new StartError(`There is no command "${command}".\n\n${usage}`)
  console.log(await perform(config, { command, application: rest[0], ...values }))
}

function read(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new StartError(`${(error as Error).message}\n\n${usage}`)
  }
}

/** Lazy, since nothing else needs the checks. */
async function showDiagnosis(env: Readonly<Record<string, string | undefined>>, isJson: boolean): Promise<void> {
  const { describeDiagnosis, diagnose } = await import('./doctor/doctor.ts')
  const diagnosis = await diagnose(env, undefined, (directory, command) => askControlSocket(directory, { command }))
  console.log(masked(isJson ? JSON.stringify(diagnosis, undefined, 2) : describeDiagnosis(diagnosis)))
  if (!diagnosis.isSound) process.exitCode = 1
}

async function migrateOnly(config: Config): Promise<void> {
  const { db, applied } = await openDatabase(config)
  await db.close()
  console.log(applied.length > 0 ? `Applied migrations ${applied.join(', ')}.` : 'The database is up to date.')
}

/** An embedded database belongs to the server that runs on it, so a running server is asked first. */
async function perform(config: Config, command: CliCommand): Promise<string> {
  const answer = config.DATABASE_URL ? undefined : await askControlSocket(config.DATA_DIR, command)
  if (answer !== undefined) return answer
  const { db, secrets, newMasterKey } = await openPlatform(config)
  // Whichever command comes first sets the database up, and only then is the master key known.
  if (newMasterKey) console.error(`Master key  ${newMasterKey}   (shown only now: keep it)`)
  try {
    const address = serverAddress(config, config.PORT)
    return await runCommand({ db, secrets, address, directory: config.DATA_DIR }, command)
  } finally {
    await db.close()
  }
}
