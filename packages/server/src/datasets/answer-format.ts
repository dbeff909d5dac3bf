// Content negotiation: the format of an answer to a query.
import type { Format, OutputColumn } from '../formats/cell.ts'
import { csvFormat } from '../formats/csv.ts'
import { geojsonFormat } from '../formats/geojson.ts'
import { jsonFormat } from '../formats/json.ts'
import type { Plan } from '../query/plan.ts'
import { attributesOf } from './attribute-dto.ts'
import type { Dataset } from './dataset-record.ts'

export const formatNames = ['json', 'geojson', 'csv'] as const
export type FormatName = (typeof formatNames)[number]

/** The format parameter takes precedence over the Accept header. */
export function chooseFormat(wanted: FormatName | undefined, accept = ''): FormatName {
  if (wanted) return wanted
  for (const type of accept.toLowerCase().split(',')) {
    const name = type.split(';', 1)[0]?.trim()
    if (name === 'application/geo+json') return 'geojson'
    if (name === 'text/csv') return 'csv'
    if (name === 'application/json' || name === '*/*') return 'json'
  }
  return 'json'
}

/** A feature needs the key, for its id, and the geometry, even when the caller selected other attributes only. */
export function withKey(plan: Plan, dataset: Dataset): Plan {
  if (plan.group) return plan
  const attributes = attributesOf(dataset)
  const geometry = dataset.attributes.find(({ type }) => type === 'geometry')?.name
  const hasGeometry = plan.columns.some(({ type }) => type === 'geometry')
  const wanted = [keyOf(dataset), hasGeometry ? undefined : geometry].filter((name) => name !== undefined)
  const added = wanted
    .filter((name) => !plan.columns.some((column) => column.name === name))
    .flatMap((name) => attributes.get(name) ?? [])
    .map((attribute) => ({ name: attribute.name, attribute, type: attribute.type }))
  return { ...plan, columns: [...plan.columns, ...added] }
}

/** The key, if it is a single column. */
function keyOf({ attributes }: Dataset): string | undefined {
  const keys = attributes.filter(({ primaryKey }) => primaryKey)
  return keys.length === 1 ? keys[0]?.name : undefined
}

export function formatOf(
  { name, filename, dataset, plan }: { name: FormatName; filename?: string; dataset: Dataset; plan: Plan },
  columns: readonly OutputColumn[],
): Format {
  if (name === 'csv') return csvFormat(columns, filename !== undefined)
  if (name === 'json') return jsonFormat(columns)
  const shown = new Set(plan.columns.map((column) => column.name))
  return geojsonFormat(columns, keyOf(dataset), (column) => shown.has(column))
}
