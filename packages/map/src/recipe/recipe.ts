/**
 * The recipe of a layer: the choices made in the visual editor, from which MapLibre layers are compiled. Recipes are stored
 * in the style's `metadata`, so that they can be edited again.
 */
import type { Dataset } from '@graticule/client'
import type { Field, FieldFormat } from '../popups/fields.ts'
import type { Theme } from '../theme.ts'
import type { BreakMethod } from './breaks.ts'
import type { RampName } from './palettes.ts'

export type Attribute = Dataset['attributes'][number]
export type LayerGeometryKind = 'point' | 'line' | 'area' | 'mixed'
export type AttributeType = Attribute['type']
export type { Theme }

export interface OneColour {
  kind: 'one'
  colour: string
}

export interface Category {
  value: string | number | boolean
  colour: string
}

interface ByValue {
  attribute: string
  ramp: RampName
  isReversed: boolean
  nullColour: string
  /** Whether the legend needs an entry for nulls. */
  hasNulls: boolean
}

export interface Categories extends ByValue {
  kind: 'categories'
  categories: Category[]
  otherColour: string
  /** The number of other values. */
  others: number
}

export interface Graduated extends ByValue {
  kind: 'graduated'
  /** Dates are milliseconds here, and strings in tiles. */
  isDate: boolean
  method: BreakMethod
  /** The requested number of classes; equal breaks are merged, so there may be fewer. */
  classes: number
  /** Strictly ascending; one fewer than the number of classes. */
  breaks: number[]
  min: number
  max: number
  /** Custom colours by class index. */
  own: Record<string, string>
}

export type Colouring = OneColour | Categories | Graduated

/** The radius of points or the width of lines, in pixels. */
export interface Sizing {
  value: number
  /** Null: a constant size. */
  attribute: string | null
  range: [smallest: number, largest: number]
  domain: [lowest: number, highest: number]
}

export const operators = ['=', '≠', '<', '≤', '>', '≥', 'contains', 'is empty', 'is not empty'] as const
export type Operator = (typeof operators)[number]

export interface LayerCondition {
  attribute: string
  type: AttributeType
  operator: Operator
  value: string
}

/** A value in a popup; its name alone where it is shown as it is. */
export type PopupField = Pick<Field, 'name' | 'label' | 'unit' | 'digits'> & { format?: FieldFormat }

/** What a click on a feature tells. */
export interface PopupFields {
  /** The attribute whose value is the heading; null: the name of the layer. */
  title: string | null
  /** In order. */
  fields: (string | PopupField)[]
}

interface FarLook {
  /** Shown below this zoom, from where on the features themselves are; null: at all zooms. */
  below: number | null
}

/** The density of points. */
export interface HeatRecipe extends FarLook {
  kind: 'heat'
  /** The attribute that weighs points; null: each counts one. */
  weight: string | null
  /** The largest weight. */
  most: number
  /** How far a point reaches at zoom 10, in pixels. */
  radius: number
  ramp: RampName
  isReversed: boolean
}

/** Rows counted by cells on the server. */
export interface CellsRecipe extends FarLook {
  kind: 'hexagons' | 'grid'
  /** `count`, or `sum`, `avg`, `min` or `max` of an attribute, such as `avg(population)`. */
  value: string
  classes: number
  /** Of the zoom that was seen when they were chosen. Maps of this package find out those of each zoom. */
  breaks: number[]
  ramp: RampName
  isReversed: boolean
}

/** Near points put together on the server, with their number. */
export interface ClustersRecipe extends FarLook {
  kind: 'clusters'
  colour: string
}

/** What is drawn far out in place of the features. */
export type FarRecipe = HeatRecipe | CellsRecipe | ClustersRecipe

export const isCells = (far: FarRecipe | null | undefined): far is CellsRecipe =>
  far?.kind === 'hexagons' || far?.kind === 'grid'

/** What readers of a map may do besides moving it. */
export const mapTools = ['search', 'fullscreen', 'locate', 'measure', 'time'] as const
export type MapTool = (typeof mapTools)[number]
/** Of maps that were made before tools could be chosen. */
export const usualTools: readonly MapTool[] = ['search', 'fullscreen']

/** Of recipes that were made before popups could be chosen. */
const unchosenFields = 6
export const unchosenPopup = (names: readonly string[]): PopupFields => ({
  title: null,
  fields: names.slice(0, unchosenFields),
})

/** A period of a time slider, from the statistics of the attribute: whoever reads a map may not ask for them. */
export interface TimeStep {
  from: string
  to: string
  count: number
}

/** The attribute whose periods a slider goes through. */
export interface TimeRange {
  attribute: string
  type: 'date' | 'datetime'
  steps: TimeStep[]
  /** `step`: the rows of a period alone; `until`: all until its end. */
  show: 'step' | 'until'
}

export interface LayerRecipe {
  id: string
  /** The dataset, for statistics. */
  datasetId: string
  /** The tile source of the dataset, or the dataset itself. */
  tilesId: string
  sourceLayer: string
  name: string
  geometry: LayerGeometryKind
  isHidden: boolean
  colour: Colouring
  size: Sizing
  /** From 0 to 1. */
  opacity: number
  stroke: { colour: string; width: number }
  label: { attribute: string; size: number } | null
  zoom: [from: number, to: number]
  conditions: LayerCondition[]
  /** Null: no popup. Absent in recipes that were made before it could be chosen. */
  popup?: PopupFields | null
  /** The attribute that is told beside the pointer. */
  hover?: string | null
  time?: TimeRange | null
  far?: FarRecipe | null
  /** Custom legend texts by item key; `title` is the heading. */
  texts: Record<string, string>
}

export interface Recipes {
  version: 1
  /** The style that the base map was copied from; null if none was selected. */
  baseId: string | null
  isBaseHidden: boolean
  /** Topmost first. */
  layers: LayerRecipe[]
  /** @defaultValue `usualTools` */
  tools?: MapTool[]
}

export const maxZoom = 24
export const noRecipes: Recipes = { version: 1, baseId: null, isBaseHidden: false, layers: [] }

export const isTimeType = (type: AttributeType): type is TimeRange['type'] => type === 'date' || type === 'datetime'

/** Whether colours depend on an attribute. */
export const isByValue = (colouring: Colouring): colouring is Categories | Graduated => colouring.kind !== 'one'

/** Large integers and decimals are strings in answers, so `typeof` does not tell. */
export const isNumeric = (type: AttributeType): boolean => type === 'integer' || type === 'number'
