/** What the last looks at the database's needs found. Looks happen in the background, so that no probe waits for the database. */

import { codeOf } from '../../kernel/db/database-error.ts'
import type { Db } from '../../kernel/db/db.ts'
import { missingMigrations } from '../../kernel/db/schema/migrate.ts'
import { missingNeeds, type Need } from '../../kernel/db/schema/needs.ts'

/** A check by its state, and why it is not `ok`, in words that everybody may read. */
export type CheckState = { readonly state: string; readonly reasons: readonly string[] }

export type NeedsWatch = {
  /** As the last looks found it; begins new ones if those are old. */
  look(): Readonly<Record<string, CheckState>>
  /** Resolves when each has been looked at, or the time is over. */
  settle(ms: number): Promise<void>
}

export type NeedsParts = {
  readonly db: Pick<Db, 'kind' | 'query'>
  /** Whether roles of applications can log in; absent: they need not. */
  canTenantsLogIn?(): Promise<boolean>
}

/** The migrations of a running server change only when somebody restores an older database under it. */
const migrationsTrustMs = 5_000
/** Rights and pg_hba.conf change seldom; what is missing is looked at again soon, for somebody may be mending it. */
const trustMs = 60_000
const brokenTrustMs = 5_000

const fine: CheckState = { state: 'ok', reasons: [] }

export function watchNeeds({ db, canTenantsLogIn }: NeedsParts): NeedsWatch {
  const migrations = watched(async () => {
    const missing = await missingMigrations(db)
    return { migrations: missing.length === 0 ? fine : { state: 'missing', reasons: [`migration ${missing[0]}`] } }
  }, migrationsTrustMs)
  const isPostgres = db.kind === 'postgres'
  const needs = watched(() => lookAtNeeds(db), trustMs, isPostgres ? { rights: fine, postgis: fine } : undefined)
  const tenants = watched(
    async () => ({ tenants: (await canTenantsLogIn?.()) === false ? refused : fine }),
    trustMs,
    canTenantsLogIn && { tenants: fine },
  )
  const all = [migrations, ...(isPostgres ? [needs] : []), ...(canTenantsLogIn ? [tenants] : [])]
  return {
    look: () => Object.assign({}, ...all.map(({ look }) => look())),
    async settle(ms) {
      const timer = Promise.withResolvers<void>()
      const timeout = setTimeout(timer.resolve, ms)
      await Promise.race([timer.promise, Promise.all(all.map(({ again }) => again()))])
      clearTimeout(timeout)
    },
  }
}

const refused: CheckState = { state: 'refused', reasons: ['login of applications’ roles (pg_hba.conf)'] }

async function lookAtNeeds(db: NeedsParts['db']): Promise<Record<string, CheckState>> {
  try {
    const missing = await missingNeeds(db)
    const isPostgis = ({ subject }: Need) => subject === 'postgis'
    return { rights: seenOf(missing.filter((need) => !isPostgis(need))), postgis: seenOf(missing.filter(isPostgis)) }
  } catch (error) {
    if (codeOf(error) !== '42501') throw error
    return { rights: { state: 'missing', reasons: ['SELECT on the catalogs'] }, postgis: fine }
  }
}

const seenOf = (missing: readonly Need[]): CheckState =>
  missing.length === 0 ? fine : { state: 'missing', reasons: missing.map(({ what }) => what) }

type Look = Record<string, CheckState>

/** The start has applied all migrations and used its rights, so all is well until a look says otherwise. */
function watched(find: () => Promise<Look>, goodTrustMs: number, begin: Look = { migrations: fine }) {
  let seen = begin
  let looking: Promise<void> | undefined
  let lookedAt = Number.NEGATIVE_INFINITY
  function again(): Promise<void> {
    looking ??= find()
      .then((needs) => {
        seen = needs
        lookedAt = performance.now()
      })
      // That the database does not work is for the check of the database to say.
      .catch(() => undefined)
      .finally(() => {
        looking = undefined
      })
    return looking
  }
  return {
    again,
    look(): Look {
      const isWell = Object.values(seen).every(({ state }) => state === 'ok')
      const trust = isWell ? goodTrustMs : Math.min(goodTrustMs, brokenTrustMs)
      if (performance.now() - lookedAt > trust) void again()
      return seen
    },
  }
}
