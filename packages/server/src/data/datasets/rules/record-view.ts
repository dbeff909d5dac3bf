// What a caller whom rules bind sees of the record of a dataset, and who may change it.
import { type Caller, type Scope, scopeOf } from '../../../api/access/acl.ts'
import type { MetadataWriter } from '../../../api/resource/documents/metadata.ts'
import type { BaseServices, Entity, View } from '../../../api/resource/resource.ts'
import { updateJson } from '../../../api/resource/store.ts'
import type { Queryable } from '../../../kernel/db/db.ts'
import { raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { isSomebody, seesAll } from './narrowing.ts'
import { type Ruled, ruleLevels } from './rule.ts'

/**
 * Attributes that no rule shows are left out, as are the rules, what the source is made of, and how many rows there are. Keys without a user
 * that may change the dataset see all of it: they are those of its administrators.
 */
export function recordView(caller: Caller): View {
  const { fits, hides } = conditionsOf(caller)
  const shown = sql`(SELECT coalesce(jsonb_agg(a ORDER BY n), '[]') FROM jsonb_array_elements(attributes) WITH ORDINALITY AS t (a, n)
    WHERE EXISTS (SELECT FROM jsonb_array_elements(rules) AS r WHERE r->'levels' ? 'read' AND ${fits}
      AND (NOT r ? 'attributes' OR r->'attributes' ? (a->>'name'))))`
  const unless = (column: string, instead: Sql): Sql => sql`CASE WHEN ${hides} THEN ${instead} ELSE ${raw(column)} END`
  return {
    columns: {
      attributes: unless('attributes', shown),
      source: unless('source', sql`CASE WHEN type = 'table' THEN source ELSE '' END`),
      bytes: unless('bytes', raw('NULL')),
      row_estimate: unless('row_estimate', raw('NULL')),
      rules: unless('rules', raw('NULL')),
    },
  }
}

/** SQL: whether the record of a dataset with this id, a text, has rules that hide something from the caller. */
export const isHiddenFrom = (caller: Caller, id: Sql): Sql =>
  sql`EXISTS (SELECT FROM svc.datasets WHERE datasets.id = CASE WHEN ${id} ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN ${id}::uuid END
    AND ${conditionsOf(caller).hides})`

/** Of the record of a dataset: whether a rule `r` is for the caller, and whether its rules hide something. */
function conditionsOf(caller: Caller): { readonly fits: Sql; readonly hides: Sql } {
  const { user } = caller
  const roles = user?.roles ?? []
  const isUser = raw(isSomebody(caller) ? 'TRUE' : 'FALSE')
  const fits = sql`((coalesce(r->>'users', 'signed-in') = 'anyone' OR ${isUser})
    AND (NOT r ? 'roles' OR r->'roles' ?| ${roles}::text[]))`
  const isWhole = sql`(NOT r ? 'where' AND NOT r ? 'attributes' AND NOT r ? 'set' AND r->'levels' ?& ${[...ruleLevels]}::text[])`
  const binds = isSomebody(caller) ? raw('TRUE') : sql`(rules_for = 'all' AND NOT ${writableBy(caller)})`
  // One expression, which is evaluated only where there are rules.
  const hides = sql`CASE WHEN jsonb_typeof(rules) = 'array' AND ${binds}
    THEN NOT EXISTS (SELECT FROM jsonb_array_elements(rules) AS r WHERE ${fits} AND ${isWhole}) ELSE FALSE END`
  return { fits, hides }
}

function writableBy(caller: Caller): Sql {
  const scope = scopeOf(caller, 'datasets', 'write')
  if (!scope) return raw('FALSE')
  return scope.ids === 'any' ? raw('TRUE') : sql`id = ANY (${scope.ids}::uuid[])`
}

/** Who follows rules may not change them, nor what they are about, though the key grants write for the sake of the rows. */
export function demandRecordWrite(caller: Caller, record: Entity | Ruled): void {
  const { rules } = record as Ruled
  if (!Array.isArray(rules) || !isSomebody(caller) || seesAll(caller, rules)) return
  throw new ApiError(
    'rule_refused',
    'Rules of the dataset bind this user, who may only change rows. Use a key without a user, or a rule that grants everything.',
  )
}

/** The same for operations that do not read the record themselves. */
export async function demandRecordWriteOf(db: Queryable, { caller }: Pick<Scope, 'caller'>, id: string): Promise<void> {
  if (!isSomebody(caller)) return
  const [record] = await db.query<Required<Pick<Ruled, 'rules'>>>(
    sql`SELECT rules FROM svc.datasets WHERE id = ${id}::uuid AND application_id = ${caller.applicationId}::uuid`,
  )
  if (record) demandRecordWrite(caller, record)
}

export const recordMetadata: MetadataWriter<BaseServices> = {
  mergedKeys: [],
  async write(store, scope, id, expected, { next }) {
    await demandRecordWriteOf(store.services.db, scope, id)
    return updateJson(store, scope, id, expected, { column: 'metadata', next })
  },
}
