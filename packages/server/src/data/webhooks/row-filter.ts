// The filter of a webhook on rows: the log has keys only, so the rows are looked up as they are now.

import { invalid } from '../../kernel/errors.ts'
import { parseFilter } from '../../query/filter/filter.ts'
import { allOf, type Filter } from '../../query/filter/filter-tree.ts'
import { applyOperator } from '../../query/filter/operator.ts'
import { everyRow } from '../../query/plan/every-row.ts'
import type { Plan } from '../../query/plan/plan.ts'
import type { Attribute } from '../../query/values/attribute.ts'
import type { LoggedChange } from '../changes/change-log.ts'
import { attributesOf } from '../datasets/attribute-dto.ts'
import type { Dataset } from '../datasets/dataset-record.ts'
import { timeoutOf } from '../datasets/queries/query-parameters.ts'
import type { StreamSlots } from '../datasets/queries/stream-slots.ts'
import type { Sources } from '../datasets/sources.ts'
import { keyValue } from './change-batch.ts'

export type RowFilterContext = { readonly sources: Sources; readonly slots: StreamSlots }

type Readable = { readonly key: Attribute; readonly where: Filter }

/** The most values of one list in a filter. */
const keysAtOnce = 1_000
/** Their text in the log and in answers is the same. */
const keyTypes = ['integer', 'string', 'uuid']

/** Throws a 400 for a filter that cannot be applied to the rows of the dataset. */
export function readRowFilter(dataset: Dataset, filter: object, path: string): Readable {
  const attributes = attributesOf(dataset)
  const [name, ...others] = dataset.attributes.filter(({ primaryKey }) => primaryKey).map((one) => one.name)
  const key = attributes.get(name ?? '')
  if (!key || others.length > 0 || !keyTypes.includes(key.type)) {
    throw invalid(path, 'needs a dataset whose primary key is one column of type integer, string or uuid')
  }
  return { key, where: parseFilter(filter, attributes, path) }
}

/** Takes away the rows that do not match, and changes without others. Deletions stay, and what has no keys. */
export async function filterRows(
  context: RowFilterContext,
  dataset: Dataset,
  filter: object,
  changes: readonly LoggedChange[],
  signal: AbortSignal,
): Promise<LoggedChange[]> {
  const readable = readRowFilter(dataset, filter, 'filter')
  const changedKeys = new Set(changes.filter(isLookedUp).flatMap(({ keys = [] }) => keys))
  const matchingKeys = new Set<string>()
  for (const keys of chunksOf([...changedKeys])) {
    for (const key of await matching(context, dataset, readable, keys, signal)) matchingKeys.add(key)
  }
  return changes.flatMap((change) => {
    if (!isLookedUp(change)) return [change]
    const keys = change.keys?.filter((key) => matchingKeys.has(key)) ?? []
    return keys.length > 0 ? [{ ...change, keys, rowCount: keys.length }] : []
  })
}

const isLookedUp = ({ operation, keys }: LoggedChange): boolean =>
  keys !== undefined && (operation === 'insert' || operation === 'update')

function* chunksOf(keys: readonly string[]): Generator<readonly string[]> {
  for (let from = 0; from < keys.length; from += keysAtOnce) yield keys.slice(from, from + keysAtOnce)
}

/** The keys whose rows are there and match. */
async function matching(
  { sources, slots }: RowFilterContext,
  dataset: Dataset,
  { key, where }: Readable,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const byText = new Map(keys.map((text) => [String(keyValue(text)), text]))
  const isAsked = applyOperator('$in', { attribute: key, value: [...byText.keys()], path: 'filter' })
  const plan: Plan = {
    ...everyRow,
    columns: [{ name: key.name, attribute: key, type: key.type }],
    where: allOf([where, isAsked]),
  }
  const source = await sources.open(dataset, {})
  const giveBack = await slots.take(dataset.applicationId, signal)
  try {
    const { batches } = await source.rows(
      plan,
      { geometry: 'geojson', srid: 4326 },
      { timeoutMs: timeoutOf(undefined), signal },
    )
    const rows = (await Array.fromAsync(batches)).flat()
    return rows.flatMap(([cell]) => byText.get(String(cell)) ?? [])
  } finally {
    giveBack()
  }
}
