// Features as GeoJSON with the members that OGC API Features adds: links and counts.
import type { Cell, OutputColumn, RowFormat } from '../../../query/formats/cell.ts'
import { geojsonFormat } from '../../../query/formats/geojson.ts'
import { swapAxes } from '../collections/axis-order.ts'
import type { Link } from '../links.ts'

export type FeatureShape = {
  /** The attribute that identifies features. */
  readonly idName: string | undefined
  /** The properties that were asked for; all if undefined. */
  readonly properties: readonly string[] | undefined
  readonly swapsAxes: boolean
}

/** A feature, its links, and the headers of its answer. */
export type FeatureDocument = {
  readonly text: string
  readonly links: readonly Link[]
  readonly headers: Record<string, string>
}

/** Writes one feature. */
export function featureWriter(
  columns: readonly OutputColumn[],
  shape: FeatureShape,
): (cells: readonly Cell[]) => string {
  const shown = shape.properties && new Set(shape.properties)
  const { row } = geojsonFormat(columns, shape.idName, (name) => shown?.has(name) ?? true)
  if (!shape.swapsAxes) return row
  const geometries = columns.flatMap(({ type }, index) => (type === 'geometry' ? [index] : []))
  return (cells) => row(cells.map((cell, index) => (cell && geometries.includes(index) ? swapAxes(cell) : cell)))
}

export type CollectionEnd = { readonly numberMatched: number | undefined; links(): readonly Link[] }

/** A FeatureCollection. Links and the number of features follow the features, because they are known only then. */
export function featureCollectionFormat(
  columns: readonly OutputColumn[],
  shape: FeatureShape,
  { numberMatched, links }: CollectionEnd,
): RowFormat {
  const write = featureWriter(columns, shape)
  const matched = numberMatched === undefined ? '' : `"numberMatched":${numberMatched},`
  let numberReturned = 0
  return {
    contentType: 'application/geo+json',
    begin: `{"type":"FeatureCollection","timeStamp":"${new Date().toISOString()}",${matched}"features":[`,
    separator: ',\n',
    row(cells) {
      numberReturned += 1
      return write(cells)
    },
    get end() {
      return `],"numberReturned":${numberReturned},"links":${JSON.stringify(links())}}\n`
    },
  }
}
