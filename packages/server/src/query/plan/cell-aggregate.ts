// Aggregates of rows by the cell they are in, as the parameters `aggregate` and `value` declare them.
import { invalid } from '../../kernel/errors.ts'
import { shortList, unknownName } from '../../kernel/nearest-name.ts'
import type { Attribute, Attributes, AttributeType } from '../values/attribute.ts'

/** Hexagons of H3, squares of the web mercator grid, or clusters of points as wide as is legible at a zoom. */
export type CellScheme =
  | { readonly kind: 'h3'; readonly resolution: number }
  | { readonly kind: 'grid'; readonly zoom: number }
  | { readonly kind: 'cluster'; readonly zoom: number }

const cellFunctions = ['sum', 'avg', 'min', 'max'] as const
export type CellFunction = (typeof cellFunctions)[number]

/** A value of each cell beside its count; `of` is its place among the attributes. */
export type CellValue = { readonly name: string; readonly function: CellFunction; readonly of: number }

export type CellAggregate = {
  readonly scheme: CellScheme
  readonly attributes: readonly Attribute[]
  readonly values: readonly CellValue[]
}

export type CellRequest = { readonly aggregate: string; readonly value?: readonly string[] | undefined }

/** Squares of this level are half a metre wide. */
const mostGridZoom = 26
const mostH3Resolution = 15

/** Screens show a tile 512 pixels wide, so the squares of four levels more are 32 pixels wide. */
const gridLevelsMore = 4
/** H3 divides a hexagon by seven, a tile is divided by four. With this factor a hexagon is 18 to 43 pixels wide at the equator. */
const h3PerZoom = Math.log(4) / Math.log(7)

const h3ResolutionAt = (zoom: number): number => Math.min(mostH3Resolution, Math.round(h3PerZoom * zoom))
const gridZoomAt = (zoom: number): number => Math.min(mostGridZoom, zoom + gridLevelsMore)

/** The zoom at which cells have the size that `auto` gives them. */
export function zoomOfCells(scheme: CellScheme): number {
  if (scheme.kind === 'h3') return Math.round(scheme.resolution / h3PerZoom)
  return scheme.kind === 'grid' ? Math.max(0, scheme.zoom - gridLevelsMore) : scheme.zoom
}

const allowed = `h3:auto, h3:0 … h3:${mostH3Resolution}, grid:auto, grid:0 … grid:${mostGridZoom} or cluster`

type Paths = (name: 'aggregate' | 'value' | 'zoom') => string

/** Without a zoom, which tiles have and queries may give, cells need a resolution. */
export function parseCells(
  { aggregate, value = [] }: CellRequest,
  attributes: Attributes,
  zoom: number | undefined,
  paths: Paths = (name) => `query/${name}`,
): CellAggregate {
  const scheme = parseScheme(aggregate, zoom, paths)
  const terms = value.map((text) => parseTerm(text, attributes, paths('value'))).filter((term) => term !== undefined)
  const used = [...new Map(terms.map(({ attribute }) => [attribute.name, attribute])).values()]
  const values = terms.map(({ name, attribute, ...term }) => ({
    name,
    function: term.function,
    of: used.findIndex((one) => one.name === attribute.name),
  }))
  return { scheme, attributes: used, values: [...new Map(values.map((one) => [one.name, one])).values()] }
}

function parseScheme(text: string, zoom: number | undefined, paths: Paths): CellScheme {
  const [, kind, level = 'auto'] = /^(?:(h3|grid):(auto|\d{1,2})|cluster)$/.exec(text) ?? []
  if (kind === undefined && text !== 'cluster') throw refused(text, paths)
  const number = level === 'auto' ? wholeZoom(text, zoom, paths) : Number(level)
  if (kind === undefined) return { kind: 'cluster', zoom: number }
  const isAuto = level === 'auto'
  const isHexagon = kind === 'h3'
  if (!isAuto && number > (isHexagon ? mostH3Resolution : mostGridZoom)) throw refused(text, paths)
  if (isHexagon) return { kind: 'h3', resolution: isAuto ? h3ResolutionAt(number) : number }
  return { kind: 'grid', zoom: isAuto ? gridZoomAt(number) : number }
}

function wholeZoom(text: string, zoom: number | undefined, paths: Paths): number {
  if (zoom !== undefined) return Math.floor(zoom)
  const instead = text === 'cluster' ? '' : ', or name a resolution in the place of auto'
  throw invalid(
    paths('zoom'),
    `is required with aggregate=${text}, whose cells depend on it: a number from 0 to 30${instead}`,
  )
}

const refused = (text: string, paths: Paths): Error =>
  invalid(paths('aggregate'), `must be ${allowed}, not "${text.slice(0, 80)}"`)

type Term = { readonly name: string; readonly function: CellFunction; readonly attribute: Attribute }

/** Undefined for the count, which every cell has. */
function parseTerm(text: string, attributes: Attributes, path: string): Term | undefined {
  if (/^count(\(\*\))?$/i.test(text)) return undefined
  const [, call = '', name = ''] = /^(\w+)\((.*)\)$/s.exec(text) ?? []
  const known = cellFunctions.find((one) => one === call.toLowerCase())
  if (!known) {
    const example = 'such as count, sum(population) or avg(population)'
    throw invalid(
      path,
      `must be count or one of ${cellFunctions.join(', ')} of an attribute, ${example}, not "${text.slice(0, 80)}"`,
    )
  }
  const attribute = attributes.get(name)
  const numeric = [...attributes.values()].filter(({ type }) => isNumeric(type)).map((one) => one.name)
  if (!attribute) throw invalid(path, unknownName('a numeric attribute', name, numeric))
  if (!isNumeric(attribute.type)) {
    const instead =
      numeric.length > 0 ? `Allowed: ${shortList(numeric)}.` : 'The dataset has none, so only count is possible.'
    throw invalid(
      path,
      `must be of a numeric attribute, and "${name.slice(0, 80)}" is of type ${attribute.type}. ${instead}`,
    )
  }
  return { name: `${known}_${name}`, function: known, attribute }
}

const isNumeric = (type: AttributeType): boolean => type === 'integer' || type === 'number'

export type CellColumn = { readonly name: string; readonly type: AttributeType }

/** The names of supercluster; a cluster of one point has none of them. */
const clusterColumns: readonly CellColumn[] = [
  { name: 'cluster', type: 'boolean' },
  { name: 'cluster_id', type: 'integer' },
  { name: 'point_count', type: 'integer' },
  { name: 'point_count_abbreviated', type: 'string' },
]

/** What is told of each cell, in this order. */
export function cellColumns({ scheme, values }: Pick<CellAggregate, 'scheme' | 'values'>): CellColumn[] {
  return [
    { name: 'cell', type: 'string' },
    { name: 'count', type: 'integer' },
    ...values.map(({ name }) => ({ name, type: 'number' as const })),
    ...(scheme.kind === 'cluster' ? clusterColumns : []),
  ]
}

/** The same of a query, with the shape behind. */
export const cellQueryColumns = (aggregate: CellAggregate): CellColumn[] => [
  ...cellColumns(aggregate),
  { name: 'geometry', type: 'geometry' },
]
