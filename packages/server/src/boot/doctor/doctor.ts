/** `doctor`: looks at everything that the server depends on, and says how to mend what is wrong. It changes nothing. */
import type pg from 'pg'
import { connectPlatform } from '../../kernel/db/connect-platform.ts'
import type { PlatformServer } from '../../kernel/libpq/platform-server.ts'
import { type Config, loadConfig } from '../../kernel/settings/config.ts'
import { countWorkers } from '../cluster/count-workers.ts'
import type { AskServer, Check, CheckContext, Database } from './check.ts'
import { baseMapCheck } from './checks/base-map.ts'
import { databaseChecks } from './checks/database.ts'
import { duckdbChecks } from './checks/duckdb.ts'
import { embeddedChecks } from './checks/embedded.ts'
import { hardeningCheck } from './checks/hardening.ts'
import { machineChecks } from './checks/machine.ts'
import { publicKeyChecks } from './checks/public-keys.ts'
import { rightsChecks } from './checks/rights.ts'
import { roleChecks } from './checks/roles.ts'
import { secretChecks } from './checks/secret.ts'
import { serviceChecks } from './checks/services.ts'
import { settingChecks } from './checks/settings.ts'
import { storageChecks } from './checks/storage.ts'
import { type Line, runChecks } from './run-checks.ts'

/** A new dependency of the server gets its check here. */
const checks: readonly Check[] = [
  ...settingChecks,
  ...databaseChecks,
  ...roleChecks,
  ...rightsChecks,
  hardeningCheck,
  ...embeddedChecks,
  ...secretChecks,
  ...publicKeyChecks,
  ...storageChecks,
  ...serviceChecks,
  baseMapCheck,
  ...machineChecks,
  ...duckdbChecks,
]

export type Diagnosis = { readonly isSound: boolean; readonly lines: readonly Line[] }

/** Settings that are not valid are the one fault that hides all others. `isWanted` is for tests. */
export async function diagnose(
  env: Readonly<Record<string, string | undefined>>,
  isWanted: (check: Check) => boolean = () => true,
  askServer?: AskServer,
): Promise<Diagnosis> {
  let config: Config
  try {
    config = loadConfig(env)
  } catch (error) {
    const text = error instanceof Error ? error.message.replaceAll('\n', ' ') : String(error)
    return judged([
      { name: 'settings', level: 'fault', text, mend: 'Correct these variables; --help lists all of them.' },
    ])
  }
  const { database, close } = connectOnce(config.database)
  const context: CheckContext = { config, workers: countWorkers(env), database, askServer }
  const lines = await runChecks(checks.filter(isWanted), context)
  close()
  return judged(lines)
}

const judged = (lines: readonly Line[]): Diagnosis => ({
  isSound: !lines.some(({ level }) => level === 'fault'),
  lines,
})

/** One connection for all checks, whose statements run one after the other. */
function connectOnce(server: PlatformServer | undefined) {
  let connecting: Promise<Database> | undefined
  let client: pg.Client | undefined
  const connect = async (to: PlatformServer): Promise<Database> => {
    const opened = await connectPlatform(to, { application_name: 'graticule doctor', query_timeout: 5_000 })
    client = opened
    let last: Promise<unknown> = Promise.resolve()
    return {
      query(text, values = []) {
        const next = last.then(() => opened.query(text, [...values]))
        last = next.catch(() => undefined)
        return next
      },
    }
  }
  return {
    database: async () => {
      if (server === undefined) return undefined
      connecting ??= connect(server)
      return connecting.catch(() => undefined)
    },
    // Not awaited: a server that does not answer would hold up the end.
    close: () => void client?.end().catch(() => {}),
  }
}

export function describeDiagnosis({ lines }: Diagnosis): string {
  const width = Math.max(...lines.map(({ name }) => name.length))
  const count = (level: Line['level'], plural = `${level}s`): string => {
    const { length } = lines.filter((line) => line.level === level)
    return `${length} ${length === 1 ? level : plural}`
  }
  const texts = lines.map(({ level, name, text, mend }) => {
    const mending = mend ? `\n${' '.repeat(width + 11)}→ ${mend}` : ''
    return `${level.padEnd(7)}  ${name.padEnd(width)}  ${text}${mending}`
  })
  return [...texts, '', [count('ok', 'ok'), count('warning'), count('fault')].join(', ')].join('\n')
}
