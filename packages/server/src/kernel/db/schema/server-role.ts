/**
 * The server's role of PostgreSQL: the one that owns the schema svc; before there is one, or where a superuser made it, the one that
 * owns the database. It is a superuser only where one owns both. Whoever runs the migrations, what they make belongs to this role: a
 * superuser's session takes it on.
 */
import { StartError } from '../../errors.ts'
import { codeOf } from '../database-error.ts'
import type { Db, Queryable } from '../db.ts'
import { ident, quoted, raw, sql } from '../sql.ts'

/** Its regrole, as a SELECT. */
export const serverRole = `
    SELECT r.oid::regrole FROM pg_roles r LEFT JOIN pg_namespace n ON n.nspname = 'svc' AND n.nspowner = r.oid
    WHERE n.oid IS NOT NULL OR r.oid = (SELECT datdba FROM pg_database WHERE datname = current_database())
    ORDER BY r.rolsuper, n.oid NULLS LAST LIMIT 1`

/** The role that this session has to take on before it makes anything: none, unless it is a superuser and the server's role is not. */
export async function roleToTakeOn(db: Db): Promise<string | undefined> {
  if (db.kind === 'embedded') return undefined
  const [row] = await db
    .query<{ name: string }>(
      raw(`SELECT r.rolname::text AS name FROM pg_roles r
        WHERE r.oid = (${serverRole}) AND NOT r.rolsuper AND current_setting('is_superuser') = 'on'`),
    )
    .catch(async (error) => {
      throw codeOf(error) === insufficientPrivilege ? await closedCatalogs(db, error) : error
    })
  return row?.name
}

const insufficientPrivilege = '42501'

async function closedCatalogs(db: Db, cause: unknown): Promise<StartError> {
  const [row] = await db.query<{ name: string }>(raw('SELECT current_user::text AS name'))
  return new StartError(
    `The catalogs are closed to the role ${row?.name}, since it did not own the database when it was hardened. ${migrateOnce}`,
    { cause },
  )
}

const migrateOnce = 'Once, with the address of a superuser in DATABASE_URL: npm start -- migrate'

/** For the rest of the transaction. */
export async function takeOn(tx: Queryable, role: string | undefined): Promise<void> {
  if (role !== undefined) await tx.query(sql`SET LOCAL ROLE ${ident(role)}`)
}

/**
 * Demands that this session acts as the owner of all that the platform made. Otherwise most of a server works, until it changes a
 * table, a trigger or an application.
 */
export async function demandOwnership(tx: Queryable): Promise<void> {
  const [foreign] = await tx.query<{ object: string; owner: string; isSuperuser: boolean }>(
    raw(`SELECT object, o.rolname::text AS owner, o.rolsuper AS "isSuperuser" FROM (${platformObjects}) AS found
      JOIN pg_roles o ON o.oid = owner WHERE NOT pg_has_role(owner, 'USAGE') ORDER BY o.rolsuper, object LIMIT 1`),
  )
  if (foreign) throw await notOwned(tx, foreign)
  const [unruled] = await tx.query<{ name: string }>(
    raw(`SELECT r.rolname::text AS name FROM pg_roles r JOIN pg_namespace n ON n.nspname = r.rolname AND r.rolname ~ '^app_[0-9a-f]{32}$'
      WHERE current_setting('server_version_num')::int4 >= 160000 AND NOT pg_has_role(r.oid, 'MEMBER WITH ADMIN OPTION') LIMIT 1`),
  )
  if (unruled)
    throw new StartError(`The server's role may not change the role ${unruled.name} of an application. ${migrateOnce}`)
}

/** The schemas, and what is in svc. A table in a tenant's schema may belong to whoever fills it. */
const platformObjects = `
  SELECT 'the schema ' || nspname AS object, nspowner AS owner FROM pg_namespace
  WHERE nspname = 'svc' OR nspname ~ '^app_[0-9a-f]{32}$'
  UNION ALL SELECT 'svc.' || relname, relowner FROM pg_class WHERE relnamespace = to_regnamespace('svc') AND relkind <> 'i'
  UNION ALL SELECT 'svc.' || proname || '()', proowner FROM pg_proc WHERE pronamespace = to_regnamespace('svc')`

async function notOwned(
  tx: Queryable,
  held: { object: string; owner: string; isSuperuser: boolean },
): Promise<StartError> {
  const [row] = await tx.query<{ name: string; database: string; isOwner: boolean }>(
    raw(`SELECT current_user::text AS name, datname::text AS database, pg_has_role(datdba, 'USAGE') AS "isOwner"
      FROM pg_database WHERE datname = current_database()`),
  )
  const { name, database, isOwner } = row ?? { name: '', database: '', isOwner: false }
  const [own, other] = [quoted(name), quoted(held.owner)]
  const first = isOwner ? '' : `As a superuser: ALTER DATABASE ${quoted(database)} OWNER TO ${own}; `
  const mend = held.isSuperuser
    ? `${first}${migrateOnce}`
    : `Log in as that role; or, as a superuser in this database: REASSIGN OWNED BY ${other} TO ${own};`
  return new StartError(`The role ${name} cannot serve: ${held.object} belongs to ${held.owner}. ${mend}`)
}
