// Rows by key that are asked for again in the same form: only the key differs, so the statement and the writer are kept.
import type { Scope } from '../../../api/access/acl.ts'
import type { QueryTree } from '../../../api/http/input/query-string.ts'
import type { Answer, BegunAnswer, Operation } from '../../../api/http/operation.ts'
import { ApiError } from '../../../kernel/errors.ts'
import type { GeometryForm } from '../../../query/execution/dialect.ts'
import { parseFilter } from '../../../query/filter/filter.ts'
import type { FormatName } from '../../../query/formats/answer-formats.ts'
import type { RowFormat } from '../../../query/formats/cell.ts'
import type { Plan } from '../../../query/plan/plan.ts'
import type { CachedDataset } from '../dataset-cache.ts'
import type { RowByKey, Source } from '../dataset-type.ts'
import { formatOf } from './answer-format.ts'
import { timeoutOf } from './query-parameters.ts'
import type { QueryServices } from './query-services.ts'
import { textBody } from './stream-answer.ts'

type Form = { readonly source: Source; readonly read: RowByKey; readonly format: RowFormat }

/** By what requests have in common, for as long as the record is known to be as it was: less than a second. */
const forms = new WeakMap<CachedDataset, Map<string, Form>>()

const maxForms = 100

/**
 * The form of a request for rows with one value in one attribute, which may be the key; undefined for every other request,
 * and for one whose parameters need reading.
 */
function formOf({ filter, format, attributes, ...others }: QueryTree, accept = ''): string | undefined {
  if (typeof filter !== 'object' || Array.isArray(filter)) return undefined
  if (Object.keys(others).length > 0) return undefined
  const [name, ...further] = Object.keys(filter)
  if (name === undefined || further.length > 0 || typeof filter[name] !== 'string') return undefined
  return JSON.stringify([name, format, attributes, accept])
}

type RowLookup = {
  readonly tree: QueryTree
  readonly accept: string | undefined
  readonly cached: CachedDataset
  readonly source: Source
  readonly plan: Plan
  readonly shown: Plan
  readonly shape: GeometryForm
  readonly format: FormatName
}

/** Keeps what answering this request took, if it is for a row by its key. */
export async function rememberRow({
  tree,
  accept,
  cached,
  source,
  plan,
  shown,
  shape,
  format,
}: RowLookup): Promise<void> {
  const form = cached.parameters.size === 0 && (format === 'json' || format === 'geojson') && formOf(tree, accept)
  if (!form) return
  const kept = forms.get(cached) ?? new Map<string, Form>()
  if (kept.has(form) || kept.size >= maxForms) return
  const read = await source.rowByKey?.(shown, shape, { timeoutMs: timeoutOf(undefined) })
  if (!read) return
  const { dataset } = cached
  kept.set(form, { source, read, format: formatOf({ name: format, isDownload: false, dataset, plan }, shown.columns) })
  forms.set(cached, kept)
}

type NowContext = Parameters<NonNullable<Operation<QueryServices>['answerNow']>>[0] & { scope: Scope }

/** The row, if one was asked for in this form within the last second. */
export function answerRow(context: NowContext, id: string): BegunAnswer | undefined {
  const { services, scope, tree, headers } = context
  const form = formOf(tree, headers.accept)
  const record = form === undefined ? undefined : services.datasetCache.fresh(scope, id)
  if (form === undefined || record === undefined || record instanceof ApiError) return undefined
  const kept = forms.get(record)?.get(form)
  const where = kept && parseFilter(tree.filter, record.attributes)
  if (where?.kind !== 'compare' || where.comparison !== 'eq') return undefined
  return (done) => {
    readRow(context, record, kept as Form, where.value).then(done, () => done(undefined))
    return true
  }
}

async function readRow(
  { services: { sources, slots }, signal }: NowContext,
  { dataset }: CachedDataset,
  { source, read, format }: Form,
  value: string,
): Promise<Answer | undefined> {
  const giveBack = await slots.take(dataset.applicationId, signal)
  try {
    // The database may be another one by now.
    if ((await sources.open(dataset, {})) !== source) return undefined
    const answered = textBody(await read(value, { timeoutMs: timeoutOf(undefined), signal }), () => format)
    return 'whole' in answered ? { headers: answered.headers, body: answered.whole } : undefined
  } finally {
    giveBack()
  }
}
