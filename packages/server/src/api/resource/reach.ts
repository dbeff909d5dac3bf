import { and, ident, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Scope } from '../access/acl.ts'
import type { BaseServices, Resource, Store, View } from './resource.ts'

/** The view of this caller, if the resource has one. */
export const viewFor = async ({ resource, services }: Store, scope: Scope): Promise<View | undefined> =>
  resource.view?.(scope, services)

/** The one place where tenant, ACL and ownership become SQL. */
export function reach(resource: Resource, scope: Scope, view: View | undefined): Sql {
  const { identity, tenantColumn, ownerColumn } = resource
  const conditions: Sql[] = []
  if (scope.applicationId !== 'any') conditions.push(sql`${ident(tenantColumn)} = ${scope.applicationId}::uuid`)
  if (scope.ids !== 'any') {
    const keys = scope.ids.map(identity.key).filter((key) => key !== undefined)
    conditions.push(sql`${ident(identity.column)} = ANY(${keys}::${raw(identity.sqlType)}[])`)
  }
  if (scope.ownerId !== null) {
    conditions.push(ownerColumn ? sql`${ident(ownerColumn)} = ${scope.ownerId}` : raw('FALSE'))
  }
  if (view?.where) conditions.push(view.where)
  return and(conditions)
}

/** SQL condition for one record in scope; a text that cannot be an id matches nothing. */
export function one(resource: Resource, scope: Scope, id: string, view: View | undefined): Sql {
  const key = resource.identity.key(id)
  if (key === undefined) throw absent(resource)
  return and([sql`${ident(resource.identity.column)} = ${key}`, reach(resource, scope, view)])
}

/** 404 unless there is such a record in scope; reads nothing of it. */
async function demandRecord(store: Store, scope: Scope, id: string): Promise<void> {
  const { resource, services } = store
  const where = one(resource, scope, id, await viewFor(store, scope))
  const [row] = await services.db.query(sql`SELECT 1 FROM ${table(resource)} WHERE ${where}`)
  if (!row) throw absent(resource)
}

/** The same, as what an operation on one record does before its body is read. */
export const recordGuard =
  <S extends BaseServices>(resource: Resource<S>) =>
  ({ scope, services }: { readonly scope: Scope; readonly services: S }, { id }: { readonly id: string }) =>
    demandRecord({ resource: resource as Resource, services }, scope, id)

export const table = (resource: Resource): Sql => ident('svc', resource.name)

/** The same message for a record that does not exist, one of another tenant and one outside the ACL. */
export const absent = (resource: Resource): ApiError =>
  new ApiError('not_found', `There is no ${resource.title} with this id.`)
