import { raw, type Sql, type SqlValue, sql } from '../../kernel/db/sql.ts'
import { invalid, refuseRepeated } from '../../kernel/errors.ts'
import { unknownName } from '../../kernel/nearest-name.ts'
import { type Caller, scopeOf } from '../access/acl.ts'
import type { BaseServices, Entity, IdentityField, Join, Resource, Store } from './resource.ts'
import { findEntities } from './store.ts'

/** The joins asked for, if the resource has them. */
export function readJoins(resource: Resource, names: readonly string[] = []): readonly string[] {
  refuseRepeated(names, 'query/join')
  for (const name of names) {
    if (!Object.hasOwn(resource.joins, name)) {
      throw invalid('query/join', unknownName(`a relation of ${resource.title}`, name, Object.keys(resource.joins)))
    }
  }
  return names
}

/** The fields that must be read so that these joins can be followed. */
export function joinFields(resource: Resource, names: readonly string[]): string[] {
  return names.map((name) => resource.joins[name]).map((join) => (join && 'field' in join ? join.field : 'id'))
}

/** Adds the related records that this caller may read; one query a join. What may not be read is null, or absent. */
export async function loadJoins(
  services: BaseServices,
  caller: Caller,
  resource: Resource,
  entities: readonly Entity[],
  names: readonly string[],
): Promise<void> {
  for (const name of names) {
    const join = resource.joins[name]
    if (join && 'one' in join) await loadOne(services.storeOf(join.one), caller, name, join, entities)
    else if (join) await loadMany(services.storeOf(join.many), caller, name, join, entities, resource.identity)
  }
}

async function loadOne(
  store: Store,
  caller: Caller,
  name: string,
  { field }: Extract<Join, { one: unknown }>,
  entities: readonly Entity[],
): Promise<void> {
  const { resource: target } = store
  const scope = scopeOf(caller, target.acl, 'read')
  const keys = arrayOf(
    target.identity,
    entities.map((entity) => entity[field]).filter((id) => id !== null),
  )
  const targets = scope ? await findEntities(store, scope, target.identity.column, keys) : []
  const byKey = new Map(targets.map(({ key, entity }) => [key, entity]))
  for (const entity of entities) entity[name] = byKey.get(String(entity[field])) ?? null
}

async function loadMany(
  store: Store,
  caller: Caller,
  name: string,
  { foreignColumn }: Extract<Join, { many: unknown }>,
  entities: readonly Entity[],
  identity: IdentityField,
): Promise<void> {
  const { resource: target } = store
  const scope = scopeOf(caller, target.acl, 'read')
  const keys = arrayOf(
    identity,
    entities.map((entity) => entity.id),
  )
  const targets = scope ? await findEntities(store, scope, foreignColumn, keys) : []
  const byKey = Map.groupBy(targets, ({ key }) => key)
  for (const entity of entities) entity[name] = (byKey.get(String(entity.id)) ?? []).map((related) => related.entity)
}

function arrayOf(identity: IdentityField, ids: readonly unknown[]): Sql {
  const keys: SqlValue[] = [...new Set(ids.map(String))].map(identity.key).filter((key) => key !== undefined)
  return sql`${keys}::${raw(identity.sqlType)}[]`
}
