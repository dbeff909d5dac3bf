/**
 * Rows by key of requests that repeat. What depends on the dataset and the form of the request is compiled from one that was answered the
 * usual way; the next ones bind their key, send the statement with others over a lane, and write the row in a callback. Whatever
 * is unusual goes the usual way (query-operations.ts), which stays the definition.
 */
import { LRUCache } from 'lru-cache'
import type { Scope } from '../../../api/access/acl.ts'
import type { QueryTree } from '../../../api/http/input/query-string.ts'
import type { Answer, BegunAnswer, Operation } from '../../../api/http/operation.ts'
import { isStaleStatement, isUnreadable } from '../../../kernel/db/database-error.ts'
import { rowLength } from '../../../kernel/db/postgres/raw-reader.ts'
import { ApiError } from '../../../kernel/errors.ts'
import type { GeometryForm } from '../../../query/execution/dialect.ts'
import { parseFilter } from '../../../query/filter/filter.ts'
import { chooseFormat, type FormatName } from '../../../query/formats/answer-formats.ts'
import type { Cell, RowFormat } from '../../../query/formats/cell.ts'
import type { Plan } from '../../../query/plan/plan.ts'
import type { CachedDataset } from '../dataset-cache.ts'
import type { CompiledRow, Source } from '../dataset-type.ts'
import { formatOf } from './answer-format.ts'
import { timeoutOf } from './query-parameters.ts'
import type { QueryServices } from './query-services.ts'
import { chunkLength, textBody } from './stream-answer.ts'

type CompiledRequest = CompiledRow & { readonly format: RowFormat; restsUntil: number }

/** By what requests have in common, for as long as the record stays as it is. */
const compiled = new WeakMap<CachedDataset, LRUCache<string, CompiledRequest>>()

const maxForms = 100
/** A table that is locked, changed or slow is left to the usual way for so long. */
const restMs = 60_000

type RowRequest = {
  readonly tree: QueryTree
  readonly accept: string | undefined
  readonly cached: CachedDataset
  readonly format: FormatName
}

/**
 * The form of a request for rows with one value in one attribute, which may be the key; undefined for every other request,
 * and for one whose parameters need reading.
 */
function formOf({ filter, format, attributes, ...others }: QueryTree, accept: string | undefined): string | undefined {
  if (typeof filter !== 'object' || Array.isArray(filter)) return undefined
  for (const _ in others) return undefined
  const [name, ...further] = Object.keys(filter)
  if (name === undefined || further.length > 0 || typeof filter[name] !== 'string') return undefined
  const isNamed = format === 'json' || format === 'geojson'
  if (format !== undefined && !isNamed) return undefined
  return `${chooseFormat(isNamed ? format : undefined, accept)} ${JSON.stringify([name, attributes])}`
}

type OpenedPlan = {
  readonly source: Source
  readonly plan: Plan
  readonly shown: Plan
  readonly shape: GeometryForm
}

/** Compiles the request, if it is for a row by its key. */
export async function compileRow(
  { tree, accept, cached, format: name }: RowRequest,
  { source, plan, shown, shape }: OpenedPlan,
): Promise<void> {
  if (name !== 'json' && name !== 'geojson') return
  const form = cached.parameters.size === 0 ? formOf(tree, accept) : undefined
  const kept = compiled.get(cached) ?? new LRUCache({ max: maxForms })
  if (form === undefined || kept.has(form)) return
  const row = await source.compileRow?.(shown, shape, { timeoutMs: timeoutOf(undefined) })
  if (!row) return
  const format = formatOf({ name, isDownload: false, dataset: cached.dataset, plan }, shown.columns)
  kept.set(form, { ...row, format, restsUntil: 0 })
  compiled.set(cached, kept)
}

type NowContext = Parameters<NonNullable<Operation<QueryServices>['answerNow']>>[0] & { scope: Scope }

/** The row, if one like it was asked for before. */
export function beginRow({ services, scope, tree, headers }: NowContext, id: string): BegunAnswer | undefined {
  const form = formOf(tree, headers.accept)
  const record = form === undefined ? undefined : services.datasetCache.fresh(scope, id)
  if (form === undefined || record === undefined || record instanceof ApiError) return undefined
  const request = compiled.get(record)?.get(form)
  if (!request || request.restsUntil > performance.now()) return undefined
  const where = parseFilter(tree.filter, record.attributes)
  if (where.kind !== 'compare' || where.comparison !== 'eq') return undefined
  return (done) => readRow(services, request, { key: where.value, owner: record.dataset.applicationId }, done)
}

function readRow(
  { lanes, slots }: QueryServices,
  request: CompiledRequest,
  { key, owner }: { readonly key: string; readonly owner: string },
  done: (answer: Answer | undefined) => void,
): boolean {
  const { session, statementFor, cellsOf } = request
  const rows: Cell[][] = []
  let bytes = 0
  return slots.tryTake(owner, (release) =>
    lanes.send(
      session,
      statementFor(key),
      (row, at) => {
        bytes += rowLength(at)
        if (bytes < chunkLength) rows.push(cellsOf(row, at))
      },
      (error) => {
        release()
        if (error && isLasting(error)) request.restsUntil = performance.now() + restMs
        done(error || bytes >= chunkLength ? undefined : answerOf(rows, request))
      },
    ),
  )
}

/** Not a failure of others that the connection carried, nor of the value, nor of a statement that the next connection prepares anew. */
const isLasting = (error: Error): boolean =>
  !(error instanceof ApiError || isUnreadable(error) || isStaleStatement(error))

/** Nothing if it would be streamed. */
function answerOf(rows: Cell[][], { columns, format }: CompiledRequest): Answer | undefined {
  const answered = textBody({ columns, batches: [rows] }, () => format)
  return 'whole' in answered ? { headers: answered.headers, body: answered.whole } : undefined
}
