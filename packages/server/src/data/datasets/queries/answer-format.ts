// The columns and the writer of an answer, by its format.
import { answerFormat, type FormatName, type TextFormat } from '../../../query/formats/answer-formats.ts'
import type { OutputColumn, RowFormat } from '../../../query/formats/cell.ts'
import { csvFormat } from '../../../query/formats/csv.ts'
import { noteText } from '../../../query/formats/exports/note-of-export.ts'
import { geojsonFormat } from '../../../query/formats/geojson.ts'
import { geojsonSeqFormat } from '../../../query/formats/geojson-seq.ts'
import { jsonFormat } from '../../../query/formats/json.ts'
import type { Plan } from '../../../query/plan/plan.ts'
import { attributesOf } from '../attribute-dto.ts'
import type { Dataset } from '../dataset-record.ts'
import { exportColumns } from '../exports/export-columns.ts'

/**
 * A feature needs its geometry, even when the caller selected other attributes only, and in GeoJSON the key, for its id.
 */
export function shownPlan(plan: Plan, dataset: Dataset, format: FormatName): Plan {
  const { isFeatures, made } = answerFormat(format)
  if (plan.group || !isFeatures) return plan
  const attributes = attributesOf(dataset)
  const geometry = dataset.attributes.find(({ type }) => type === 'geometry')?.name
  const hasGeometry = plan.columns.some(({ type }) => type === 'geometry')
  const wanted = [made === 'rows' ? keyOf(dataset) : undefined, hasGeometry ? undefined : geometry]
  const added = wanted
    .filter((name) => name !== undefined && !plan.columns.some((column) => column.name === name))
    .flatMap((name) => attributes.get(name ?? '') ?? [])
    .map((attribute) => ({ name: attribute.name, attribute, type: attribute.type }))
  return { ...plan, columns: [...plan.columns, ...added] }
}

/** The key, if it is a single column. */
function keyOf({ attributes }: Dataset): string | undefined {
  const keys = attributes.filter(({ primaryKey }) => primaryKey)
  return keys.length === 1 ? keys[0]?.name : undefined
}

export function formatOf(
  { name, isDownload, dataset, plan }: { name: TextFormat; isDownload: boolean; dataset: Dataset; plan: Plan },
  columns: readonly OutputColumn[],
): RowFormat {
  if (name === 'csv') return csvFormat(columns, isDownload)
  if (name === 'json') return jsonFormat(columns)
  const shown = new Set(plan.columns.map((column) => column.name))
  const isShown = (column: string): boolean => shown.has(column)
  if (name === 'ndjson') return geojsonSeqFormat(columns, keyOf(dataset), isShown)
  const note = isDownload
    ? noteText({
        columns: exportColumns(
          columns.filter((column) => isShown(column.name)),
          dataset,
        ),
        srid: 4326,
      })
    : undefined
  return geojsonFormat(columns, keyOf(dataset), isShown, note)
}
