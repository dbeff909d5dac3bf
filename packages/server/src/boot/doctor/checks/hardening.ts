import { codeOf } from '../../../kernel/db/database-error.ts'
import { type Hardening, readHardening } from '../../../kernel/db/schema/hardening.ts'
import { compileSql, type Sql } from '../../../kernel/db/sql.ts'
import { type Check, type Database, type Finding, fault, isPostgres, ok, warning } from '../check.ts'

/** Whether an administrator has closed the catalogs of PostgreSQL to tenants' roles. */
export const hardeningCheck: Check = {
  name: 'hardening',
  applies: isPostgres,
  async run({ database }) {
    const client = await database()
    if (!client) return []
    try {
      return judge(await readHardening({ query: (statement) => rowsOf(client, statement) }))
    } catch (error) {
      if (codeOf(error) !== insufficientPrivilege) throw error
      return fault('The catalogs are closed to the role of DATABASE_URL too: they were hardened for another one.', mend)
    }
  },
}

const insufficientPrivilege = '42501'

const mend =
  'As a superuser, in this database: npm start --silent -- hardening | psql "postgres://SUPERUSER@HOST/DATABASE"'

/** How many names a line shows. */
const shown = 3

function judge({ total, open, missing }: Hardening): Finding {
  if (missing.length > 0) {
    return fault(
      `${missing.length} objects of the catalogs are closed to the role of DATABASE_URL too, such as ${some(missing)}: they were hardened for another role.`,
      mend,
    )
  }
  if (open.length === 0) return ok('The catalogs are closed to tenants.')
  if (open.length >= total) {
    return warning('The catalogs are open to tenants: only the check of their SQL hides them.', mend)
  }
  return warning(
    `${open.length} objects of the catalogs are open to tenants, such as ${some(open)}: an update added them, or somebody granted them.`,
    mend,
  )
}

const some = (names: readonly string[]): string => names.slice(0, shown).join(', ')

async function rowsOf<R>(client: Database, statement: Sql): Promise<R[]> {
  const { text, values } = compileSql(statement)
  return (await client.query(text, values)).rows
}
