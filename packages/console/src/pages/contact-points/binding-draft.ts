/** A binding of a dataset's changes to a webhook as a form holds it, its checks, and how it reads in words. */
import type { ChangeBindings, ChangeBindingsUpdate, JsonObject } from '@graticule/client'
import type { Faults } from '../../components/faults/faults.ts'
import { formatNumber } from '../../format.ts'

export type Binding = ChangeBindings['bindings'][number]
export type BindingInput = ChangeBindingsUpdate['bindings'][number]
export type ChangeOperation = Binding['operations'][number]

export const operations: readonly { name: ChangeOperation; label: string; verb: string }[] = [
  { name: 'insert', label: 'Rows are inserted', verb: 'inserts' },
  { name: 'update', label: 'Rows are updated', verb: 'updates' },
  { name: 'delete', label: 'Rows are deleted', verb: 'deletions' },
  { name: 'truncate', label: 'The table is emptied (truncate)', verb: 'truncation' },
]

export const sides = ['West', 'South', 'East', 'North'] as const
type Side = (typeof sides)[number]
const mostSeconds = 3_600

export interface BindingDraft {
  datasetId: string
  operations: readonly ChangeOperation[]
  /** JSON; empty for all rows. */
  filter: string
  /** Degrees; all empty for everywhere. */
  box: Readonly<Record<Side, string>>
  debounce: string
}

/** Messages by field. */
export type BindingFaults = Partial<Record<'datasetId' | 'operations' | 'filter' | 'bbox' | 'debounceSeconds', string>>

export function draftOfBinding(binding?: Binding): BindingDraft {
  const { datasetId = '', filter = null, bbox = null, debounceSeconds = 0 } = binding ?? {}
  return {
    datasetId,
    operations: binding?.operations ?? operations.map(({ name }) => name),
    filter: filter ? JSON.stringify(filter, null, 2) : '',
    box: Object.fromEntries(sides.map((side, at) => [side, bbox ? String(bbox[at]) : ''])) as BindingDraft['box'],
    debounce: String(debounceSeconds),
  }
}

/** What to send, or what is wrong. */
export function readDraft(draft: BindingDraft): { binding: BindingInput } | { faults: BindingFaults } {
  const filter = readFilter(draft.filter)
  const box = readBox(draft.box)
  const seconds = Number(draft.debounce)
  const isWhole = /^\d+$/.test(draft.debounce.trim()) && seconds <= mostSeconds
  const faults: BindingFaults = {
    ...(draft.datasetId === '' && { datasetId: 'Choose a dataset.' }),
    ...(draft.operations.length === 0 && { operations: 'Choose at least one.' }),
    ...('fault' in filter && { filter: filter.fault }),
    ...('fault' in box && { bbox: box.fault }),
    ...(!isWhole && { debounceSeconds: `Must be a whole number from 0 to ${formatNumber(mostSeconds)}.` }),
  }
  if (Object.keys(faults).length > 0 || 'fault' in filter || 'fault' in box) return { faults }
  const { datasetId } = draft
  const chosen = operations.map(({ name }) => name).filter((name) => draft.operations.includes(name))
  return {
    binding: { datasetId, operations: chosen, filter: filter.value, bbox: box.value, debounceSeconds: seconds },
  }
}

type FieldResult<Value> = { value: Value | null } | { fault: string }

function readFilter(text: string): FieldResult<JsonObject> {
  if (text.trim() === '') return { value: null }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { value: value as JsonObject }
    return { fault: 'Must be an object such as {"depth": {"$gte": 10}}.' }
  } catch (failure) {
    return { fault: `Must be JSON: ${failure instanceof Error ? failure.message : failure}` }
  }
}

function readBox(box: BindingDraft['box']): FieldResult<[number, number, number, number]> {
  const texts = sides.map((side) => box[side].trim())
  if (texts.every((text) => text === '')) return { value: null }
  const [west = 0, south = 0, east = 0, north = 0] = texts.map((text) => (text === '' ? Number.NaN : Number(text)))
  const areLongitudes = Math.abs(west) <= 180 && Math.abs(east) <= 180
  if (areLongitudes && south >= -90 && south <= north && north <= 90) return { value: [west, south, east, north] }
  return { fault: 'Must be four numbers in degrees, with south below north, or all empty.' }
}

/** The API's faults of the binding at an index: `body/bindings/2/filter/depth` belongs to `filter`. */
export function faultsOfBinding(faults: Faults, index: number): BindingFaults {
  return Object.fromEntries(
    faults.under(`bindings/${index}`).map(({ path, message }) => {
      const [field = '', ...rest] = path.split('/')
      return [field, rest.length > 0 ? `${rest.join('/')} ${message}` : message]
    }),
  )
}

/** "inserts and updates, of rows that match {…}, in 5.8, 47.2, 15.1, 55.1, gathered for 30 s" */
export function describeBinding({ operations: chosen, filter, bbox, debounceSeconds }: Binding): string {
  const verbs = operations.filter(({ name }) => chosen.includes(name)).map(({ verb }) => verb)
  return [
    verbs.length === operations.length ? 'every change' : verbs.join(', ').replace(/, ([^,]*)$/, ' and $1'),
    filter && `of rows that match ${JSON.stringify(filter)}`,
    bbox && `in the box ${bbox.join(', ')}`,
    debounceSeconds > 0 && `gathered for ${formatNumber(debounceSeconds)} s`,
  ]
    .filter(Boolean)
    .join(', ')
}
