/// <reference lib="dom" />
/** The options of a data source, and their validation. */

import type { LayersOption } from '../default-layers.ts'
import type { GeoJsonCollection } from '../geojson.ts'
import type { GraticuleMap } from '../graticule-map.ts'
import type { LookOptions } from '../look.ts'
import { isId, isName } from '../map-client.ts'
import { nearestName } from '../nearest-name.ts'
import type { FieldsContent } from '../popups/fields.ts'
import type { PopupFunction } from '../popups/popups.ts'
import type { Properties } from '../selection.ts'
import type { SourceFilter } from './source-filter.ts'
import { tileSourceOf } from './tile-address.ts'

export type SelectionMode = 'none' | 'single' | 'multi'

/** With a type of its rows, names of attributes are checked. */
export interface DataSourceOptions<Row extends object = Properties> extends LookOptions<Row> {
  /** The id of the data source; also that of the MapLibre source. */
  id: string
  /** The map that it belongs to. */
  svcMap?: GraticuleMap | undefined
  /** The same as `svcMap`. */
  map?: GraticuleMap | undefined
  /** The id or name of a dataset, the id of a tile source, a URL, or a GeoJSON FeatureCollection. */
  src: string | GeoJsonCollection
  /** @defaultValue `geojson` for collections, clusters and URLs without `{z}` or `/tiles/`; otherwise `vector` */
  type?: 'vector' | 'geojson' | undefined
  /** Replaces the client's key for this source. Sent to the client's server only. */
  apiKey?: string | undefined
  /** Clusters nearby points into one circle with their count: in the page (geojson), or on the server (vector). */
  cluster?: boolean | undefined
  /** The highest zoom at which points are clustered. */
  clusterMaxZoom?: number | undefined
  /** The radius of a cluster, in pixels. @defaultValue 50 */
  clusterRadius?: number | undefined
  /** The property that identifies a feature. @defaultValue the feature's id, which must be an integer */
  featureId?: (keyof Row & string) | undefined
  /** The maximum number of a dataset's features: in total (geojson), or in each tile (vector). */
  limit?: number | undefined
  /** Follows the changes of the dataset, which must be of type `table`, and shows them within about a second. @defaultValue false */
  live?: boolean | undefined
  /** The layer in the vector tiles. @defaultValue `geometry` */
  sourceLayer?: string | undefined
  /** How many features can be selected by clicks. @defaultValue `none` */
  selectionMode?: SelectionMode | undefined
  /** Whether a click on another source's feature clears the selection too. @defaultValue false: only clicks on empty areas do */
  selectionClear?: boolean | undefined
  /** A path of the state, bound two-way: the selected id or null (single), the array of selected ids (multi). */
  selectionState?: string | undefined
  /** A path of the state, written only: the selected feature's properties, or an object of them by id (multi). */
  selectionFeatureState?: string | undefined
  /** The popup of a clicked feature: the id of a registered popup, or a function that returns the content. */
  selectionPopup?: string | PopupFunction<Row> | undefined
  /** The popup of a clicked feature by declaration, or a function that returns its content. */
  popup?: FieldsContent<Row> | PopupFunction<Row> | undefined
  /** Shown beside the pointer: a property, a declaration as for `popup`, or a function. */
  tooltip?: (keyof Row & string) | FieldsContent<Row> | PopupFunction<Row> | undefined
  /** Only the rows of the dataset for which it holds. */
  filter?: SourceFilter<Row> | undefined
  /** Only the rows of this period, such as `2024-01/2024-03`, `2024` or `2024-06-01/..`. */
  time?: string | undefined
  /** The heading in the legend. @defaultValue the name of the dataset */
  title?: string | undefined
  /** @defaultValue true */
  visible?: boolean | undefined
  /** From 0 to 1, times that of the layers. @defaultValue 1 */
  opacity?: number | undefined
  /** The layer of the style that the layers lie below. @defaultValue above all */
  beforeId?: string | undefined
  /** Replaces the default layers; `source` and `source-layer` are filled in. */
  layers?: LayersOption | undefined
}

type Rule = readonly [allowed: string, accepts: (value: unknown) => boolean]

const text: Rule = ['a text that is not empty', (value) => typeof value === 'string' && value !== '']
const flag: Rule = ['true or false', (value) => typeof value === 'boolean']
const oneOf = (...names: string[]): Rule => [
  names
    .map((name) => `"${name}"`)
    .join(', ')
    .replace(/, ([^,]*)$/, ' or $1'),
  (value) => names.includes(value as string),
]
const number = (allowed: string, accepts: (value: number) => boolean): Rule => [
  allowed,
  (value) => typeof value === 'number' && Number.isFinite(value) && accepts(value),
]

/** An object with no other members. */
const members = (...names: string[]): Rule => [
  `an object with ${names.join(', ')}`,
  (value) => isObject(value) && Object.keys(value).every((name) => names.includes(name)),
]
const either = (...rules: Rule[]): Rule => [
  rules.map(([allowed]) => allowed).join(', or '),
  (value) => rules.some(([, accepts]) => accepts(value)),
]
const byAttribute = (...others: string[]): Rule => {
  const [allowed, accepts] = members('attribute', ...others)
  return either(
    ['an attribute', text[1]],
    [allowed, (value) => accepts(value) && text[1]((value as { attribute?: unknown }).attribute)],
  )
}
const content: Rule = either(members('title', 'fields', 'locale'), [
  'a function',
  (value) => typeof value === 'function',
])
const valuePattern = /^(count|(sum|avg|min|max)\(.+\))$/
const isCells = members('below', 'value', 'size', 'classes', 'palette', 'reverse')
const cells: Rule = either(flag, [
  `${isCells[0]}, whose value is count, or sum, avg, min or max of an attribute such as avg(population)`,
  (value) => isCells[1](value) && valuePattern.test((value as { value?: string }).value ?? 'count'),
])
const map: Rule = ['a GraticuleMap', (value) => isObject(value) && 'gl' in value && 'client' in value]

const rules: Record<keyof DataSourceOptions, Rule> = {
  id: text,
  svcMap: map,
  map,
  src: [
    'the id or name of a dataset, an address or a GeoJSON FeatureCollection',
    (value) => isAddress(value) || isCollection(value),
  ],
  type: oneOf('vector', 'geojson'),
  apiKey: text,
  cluster: flag,
  clusterMaxZoom: number('a number from 0 to 24', (value) => value >= 0 && value <= 24),
  clusterRadius: number('a number of pixels above 0', (value) => value > 0),
  featureId: text,
  limit: number('a whole number above 0', (value) => Number.isInteger(value) && value > 0),
  live: flag,
  sourceLayer: text,
  selectionMode: oneOf('none', 'single', 'multi'),
  selectionClear: flag,
  selectionState: text,
  selectionFeatureState: text,
  selectionPopup: [
    'the id of a registered popup or a function',
    (value) => typeof value === 'function' || text[1](value),
  ],
  popup: content,
  tooltip: either(['a property', text[1]], content),
  filter: ['conditions, or CQL2', (value) => text[1](value) || (isObject(value) && !Array.isArray(value))],
  time: text,
  title: text,
  visible: flag,
  opacity: number('a number from 0 to 1', (value) => value >= 0 && value <= 1),
  beforeId: text,
  colorBy: byAttribute('kind', 'method', 'classes', 'breaks', 'palette', 'reverse', 'colors'),
  sizeBy: byAttribute('range'),
  heat: either(flag, members('weight', 'radius', 'palette', 'below')),
  hexagons: cells,
  grid: cells,
  layers: [
    'an array of layers or a function that returns one',
    (value) => typeof value === 'function' || Array.isArray(value),
  ],
}
const names = Object.keys(rules) as (keyof DataSourceOptions)[]
const required: readonly string[] = ['id', 'src']

/** Throws a TypeError that names the option, what is allowed, and for a misspelt name the nearest one. */
export function checkSourceOptions(options: DataSourceOptions): void {
  if (!isObject(options)) throw new TypeError('DataSource: the options must be an object.')
  for (const name of Object.keys(options)) if (!Object.hasOwn(rules, name)) throw new TypeError(unknownOption(name))
  if (options.svcMap === undefined && options.map === undefined)
    throw refusal('svcMap', `must be ${map[0]}, not undefined.`)
  for (const name of names) {
    const [allowed, accepts] = rules[name]
    const value = options[name]
    if (value === undefined && !required.includes(name)) continue
    if (!accepts(value)) throw refusal(name, `must be ${allowed}, not ${shown(value)}.`)
  }
  checkTogether(options)
}

/** Refuses combinations of options that have no effect together. */
function checkTogether(options: DataSourceOptions): void {
  const { src, selectionMode = 'none' } = options
  const isVector = typeOf(options) === 'vector'
  const isDataset = typeof src === 'string' && (isId(src) || isName(src))
  const refuse = (isMistaken: boolean, problem: string, ...names: (keyof DataSourceOptions)[]) => {
    const option = isMistaken && names.find((name) => options[name] !== undefined && options[name] !== false)
    if (option) throw refusal(option, problem)
  }
  refuse(isVector && typeof src !== 'string', 'must be "geojson" when src is a FeatureCollection.', 'type')
  refuse(!isVector, 'is for vector sources only. Leave it out, or set type to "vector".', 'sourceLayer')
  const forGeojson = 'is for GeoJSON sources only. Leave it out, or set type to "geojson".'
  refuse(isVector, forGeojson, 'clusterMaxZoom', 'clusterRadius')
  refuse(!isDataset, 'is only for a src that is the id of a dataset.', 'limit')
  refuse(options.selectionPopup !== undefined, 'cannot be used with selectionPopup. Leave one of them out.', 'popup')
  refuse(
    options.layers !== undefined,
    'has no effect on layers of your own. Leave one out.',
    'colorBy',
    'sizeBy',
    'heat',
    'hexagons',
    'grid',
  )
  refuse(Boolean(options.heat), 'cannot be used with heat. Leave one of them out.', 'cluster', 'hexagons', 'grid')
  refuse(Boolean(options.hexagons), 'cannot be used with hexagons. Leave one of them out.', 'cluster', 'grid')
  refuse(Boolean(options.grid), 'cannot be used with grid. Leave one of them out.', 'cluster')
  const forRows = ['live', 'filter', 'time', 'hexagons', 'grid', ...(isVector ? ['cluster' as const] : [])] as const
  const isAsked = forRows.some((name) => options[name] !== undefined && options[name] !== false)
  const hasRows = !isAsked || isDataset || (isVector && isTileAddress(options))
  const forTiles = 'is only for a src that is the id of a dataset or a tile source, or the address of its tiles.'
  refuse(!hasRows, forTiles, ...forRows)
  const forSelections = 'needs a selectionMode of "single" or "multi".'
  refuse(selectionMode === 'none', forSelections, 'selectionState', 'selectionFeatureState', 'selectionClear')
}

const isTileAddress = (options: DataSourceOptions): boolean =>
  typeof options.src === 'string' && tileSourceOf(mapOf(options).client, options.src) !== undefined

export const mapOf = ({ svcMap, map }: DataSourceOptions): GraticuleMap => (svcMap ?? map) as GraticuleMap

export function typeOf({ src, type, cluster }: DataSourceOptions): 'vector' | 'geojson' {
  if (type) return type
  if (typeof src !== 'string' || cluster) return 'geojson'
  return isId(src) || isName(src) || src.includes('{z}') || src.includes('/tiles/') ? 'vector' : 'geojson'
}

export const refusal = (name: string, problem: string): TypeError => new TypeError(`DataSource: ${name} ${problem}`)

function unknownOption(name: string): string {
  const nearest = nearestName(name, names)
  const hint = nearest ? ` Did you mean "${nearest}"?` : ''
  return `DataSource: "${name}" is not an option.${hint} Allowed: ${names.join(', ')}.`
}

function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (isObject(value)) return Array.isArray(value) ? 'an array' : 'an object'
  const text = typeof value === 'string' ? `"${value}"` : String(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const isAddress = (value: unknown): boolean =>
  typeof value === 'string' &&
  (isId(value) || isName(value) || (URL.canParse(value, 'http://localhost') && !/\s/.test(value)))

export const isCollection = (value: unknown): value is GeoJsonCollection =>
  isObject(value) &&
  'type' in value &&
  value.type === 'FeatureCollection' &&
  'features' in value &&
  Array.isArray(value.features)
