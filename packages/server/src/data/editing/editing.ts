// What the operations that write rows share: the table, the transaction, and what follows from a write.
import type { FastifyRequest } from 'fastify'
import { type Caller, reachesId, type Scope, scopeOf } from '../../api/access/acl.ts'
import { type Trail, transactWithEntry } from '../../api/access/audit-trail.ts'
import type { AclLevel } from '../../api/access/grants.ts'
import { operationUsing } from '../../api/http/operation.ts'
import type { BaseServices } from '../../api/resource/resource.ts'
import { tagsOf } from '../../api/resource/revision.ts'
import { createAdmission, type Release } from '../../kernel/concurrency/admission.ts'
import type { Transaction } from '../../kernel/db/db.ts'
import { type Sql, sql } from '../../kernel/db/sql.ts'
import { ApiError, type ErrorCode } from '../../kernel/errors.ts'
import { limits, overLimit } from '../../kernel/limits/limits.ts'
import type { Connections } from '../databases/connection.ts'
import { dataset as datasetResource } from '../datasets/dataset.ts'
import type { CachedDataset } from '../datasets/dataset-cache.ts'
import type { Dataset } from '../datasets/dataset-record.ts'
import type { QueryServices } from '../datasets/queries/query-services.ts'
import type { StorageQuota } from '../uploads/http/storage-quota.ts'
import { rowTagger } from './rows/row-tag.ts'
import { type EditTable, openEditTable } from './writing/edit-table.ts'
import type { EditTransaction } from './writing/edit-transaction.ts'
import { transactExternal } from './writing/external-write.ts'
import { knownColumns } from './writing/ruled-write.ts'
import { explainWrite } from './writing/write-errors.ts'
import { setWriteLimits } from './writing/write-rows.ts'

/** Limits how many writes of an application hold a connection of the platform at once. */
export type WriteSlots = { take(applicationId: string, signal: AbortSignal): Release | Promise<Release> }

const patienceMs = 2_000

export function createWriteSlots(): WriteSlots {
  const refuse = (held: number): ApiError =>
    overLimit('writesAtOnce', held, `This application already runs ${held} writes, its limit. Try again in a moment.`, {
      headers: { 'Retry-After': '1' },
    })
  const admission = createAdmission({ perOwner: limits.writesAtOnce.value, waitMs: patienceMs, refuse })
  return { take: (applicationId, signal) => admission.admit(applicationId, { signal }) }
}

export type EditServices = BaseServices &
  QueryServices & {
    readonly connections: Connections
    readonly writeSlots: WriteSlots
    readonly uploading: { readonly storage: StorageQuota }
  }

export const operation = operationUsing<EditServices>()

export type EditContext = {
  readonly request: FastifyRequest
  readonly services: EditServices
  readonly scope: Scope
  readonly signal: AbortSignal
  readonly trail?: Trail | undefined
}

export type Edit = CachedDataset & {
  readonly table: EditTable
  /** The caller may add rows and nothing else, or is bound by rules, so that answers and errors tell nothing of other rows. */
  readonly isAppendOnly: boolean
}

export async function beginEdit(services: EditServices, scope: Scope, id: string): Promise<Edit> {
  const cached = await services.datasetCache.get(scope, id)
  const table = knownColumns(await openEditTable(services.connections, cached.dataset), cached.dataset)
  const isBound = cached.dataset.narrowing !== undefined
  return { ...cached, table, isAppendOnly: isBound || !reaches(scope.caller, 'write', cached.dataset) }
}

/** Before the body is read: that there is such a dataset. Its table is looked at later. */
export const demandDataset = (
  { services, scope }: Pick<EditContext, 'services' | 'scope'>,
  { id }: { readonly id: string },
): Promise<unknown> => services.datasetCache.get(scope, id)

/** Whether the caller may also query all of the dataset: only then are its rows shown by writes. */
export const mayQuery = ({ scope: { caller } }: EditContext, dataset: Dataset): boolean =>
  !dataset.narrowing && reaches(caller, 'execute', dataset)

const reaches = (caller: Caller, level: AclLevel, { id }: Dataset): boolean =>
  reachesId(scopeOf(caller, 'datasets', level), id)

/** What the audit log tells of a write: how many rows, and which columns. */
export type WriteSummary = { readonly count: number; readonly columns: readonly string[] }

/**
 * One transaction: all or nothing, ended when the client leaves before the commit. In the platform's database the entry of the
 * audit log is part of it.
 */
export async function writeInTransaction<T extends WriteSummary>(
  { request, services, signal, trail }: EditContext,
  { dataset, table, isAppendOnly }: Edit,
  work: (tx: EditTransaction) => Promise<T>,
): Promise<T> {
  const write = async (tx: EditTransaction): Promise<T> => {
    await setWriteLimits(tx)
    const written = await work(tx)
    signal.throwIfAborted()
    noteWrite(trail, dataset, written)
    return written
  }
  const release = await services.writeSlots.take(dataset.applicationId, signal)
  try {
    const onError = (error: unknown) => request.log.warn({ err: error }, 'a change was not logged, which is told later')
    const transacted = table.isPlatform
      ? transactWithEntry(table.db, trail, write)
      : transactExternal({ platform: services.db, onError }, table, write)
    return await transacted.catch(explainWrite({ isPlatform: table.isPlatform, isAppendOnly }))
  } finally {
    release()
    // Cached versions of the data are asked for again, by this server at once.
    services.generations.next(datasetResource)
  }
}

const maxNoted = 50

function noteWrite(
  trail: Trail | undefined,
  { id, name, applicationId }: Dataset,
  { count, columns }: WriteSummary,
): void {
  if (!trail) return
  trail.applicationId = applicationId
  trail.target = { type: 'datasets', id, name }
  trail.changed = [`${count} ${count === 1 ? 'row' : 'rows'}`, ...columns.slice(0, maxNoted)]
}

/** The ETags of `If-Match`, one of which the row must have; undefined without the header. */
function expectedTags({ headers }: FastifyRequest): 'any' | readonly string[] | undefined {
  const header = headers['if-match']
  if (header === undefined) return undefined
  if (header.trim() === '*') return 'any'
  return tagsOf(header).flatMap(({ isWeak, tag }) => (isWeak ? [] : [tag]))
}

const precondition: ErrorCode = 'precondition_failed'

/** Optimistic concurrency: locks the row if it is as the client knows it. */
export async function demandTag(
  tx: Transaction,
  { services, request }: EditContext,
  { dataset, table: { from } }: Edit,
  condition: Sql,
): Promise<void> {
  const expected = expectedTags(request)
  if (expected === undefined) return
  const { digest, tagOf } = rowTagger(services, dataset)
  const [row] = await tx.query<{ digest: string }>(
    sql`SELECT ${digest} AS digest FROM ${from} AS q WHERE ${condition} FOR UPDATE`,
  )
  if (!row) throw new ApiError(precondition, 'There is no row with this key, so If-Match cannot hold.')
  if (expected === 'any' || expected.includes(tagOf(row.digest))) return
  throw new ApiError(precondition, 'The row has changed since it was read. Read it again, and send its new ETag.')
}
