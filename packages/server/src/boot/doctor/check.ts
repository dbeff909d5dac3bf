import type { PlatformServer } from '../../kernel/libpq/platform-server.ts'
import type { Config } from '../../kernel/settings/config.ts'

/** What a check found. A fault keeps the server from working, a warning from working well or safely. */
export type Finding = {
  readonly level: 'ok' | 'warning' | 'fault'
  readonly text: string
  /** What to do: the exact setting, command or SQL. */
  readonly mend?: string
}

/** A check as data: `applies` says whether the settings ask for it, `run` looks. It changes nothing. */
export type Check = {
  readonly name: string
  applies?(config: Config): boolean
  run(context: CheckContext): Promise<Finding | readonly Finding[]>
}

export type CheckContext = {
  readonly config: Config
  /** How many processes will serve. */
  readonly workers: number
  /** The connection that the checks of PostgreSQL share; undefined if there is none, which one check reports. */
  database(): Promise<Database | undefined>
  /** Asks the server that runs on an embedded database, by its DATA_DIR; undefined if none does. */
  askServer?: AskServer | undefined
}

export type AskServer = (directory: string, question: 'former-public-keys') => Promise<string | undefined>

// biome-ignore lint/suspicious/noExplicitAny: each check knows what it asked for
export type Database = { query(text: string, values?: readonly unknown[]): Promise<{ rows: any[] }> }

export const ok = (text: string): Finding => ({ level: 'ok', text })
export const warning = (text: string, mend: string): Finding => ({ level: 'warning', text, mend })
export const fault = (text: string, mend: string): Finding => ({ level: 'fault', text, mend })

export const isPostgres = ({ database }: Config): boolean => database !== undefined
export const isEmbedded = ({ database }: Config): boolean => database === undefined

/** The line of pg_hba.conf that lets a role log in with its password; `all` for the roles of applications. */
export const hbaLine = ({ addresses: [first], database }: PlatformServer, role: string): string =>
  first?.host.startsWith('/')
    ? `local ${database} ${role} scram-sha-256`
    : `host ${database} ${role} ADDRESS/32 scram-sha-256`

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message || error.name : String(error)

export const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`
