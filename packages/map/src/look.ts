/**
 * How features look by their values: the options `colorBy`, `sizeBy`, `heat`, `hexagons` and `grid` of a data source. What they need to know of the
 * values, and the layers made of it, are in `recipe/` and loaded when a source has such an option.
 */
import type { LayerSpecification, Map as MapLibreMap, StyleSpecification } from 'maplibre-gl'
import type { SourceLayer } from './default-layers.ts'
import type { BreakMethod } from './recipe/breaks.ts'
import type { RecipeLegend } from './recipe/legend-items.ts'
import type { RampName } from './recipe/palettes.ts'
import type { Properties } from './selection.ts'
import type { Theme } from './theme.ts'

export interface ColorBy<Row extends object = Properties> {
  attribute: keyof Row & string
  /** Classes of numbers and dates, or one colour for each value. @defaultValue by the values */
  kind?: 'classes' | 'categories'
  /** @defaultValue `natural` */
  method?: Exclude<BreakMethod, 'manual'>
  /** How many classes, from 2 to 10. @defaultValue 5 */
  classes?: number
  /** Where classes end, in place of `method` and `classes`. */
  breaks?: readonly number[]
  /** @defaultValue by the values */
  palette?: RampName
  /** Whether the palette is reversed. */
  reverse?: boolean
  /** Colours of some categories, by value. */
  colors?: Readonly<Record<string, string>>
}

export interface SizeBy<Row extends object = Properties> {
  attribute: keyof Row & string
  /** The smallest and the largest radius of points or width of lines, in pixels. */
  range?: readonly [number, number]
}

export interface Heat<Row extends object = Properties> {
  /** The attribute that weighs points. @defaultValue each counts one */
  weight?: keyof Row & string
  /** How far a point reaches at zoom 10, in pixels. @defaultValue 24 */
  radius?: number
  palette?: RampName
  /** Shown below this zoom only; from there on the features themselves are. @defaultValue at all zooms */
  below?: number
}

export interface Cells<Row extends object = Properties> {
  /** Shown below this zoom only; from there on the features themselves are. @defaultValue at all zooms */
  below?: number
  /** What cells are coloured by: `count`, or `sum`, `avg`, `min` or `max` of an attribute, such as `avg(population)`. @defaultValue `count` */
  value?: CellValue<keyof Row & string>
  /** The resolution of H3, from 0 to 15, or the level of the grid. @defaultValue by the zoom */
  size?: number
  /** How many classes, from 2 to 10. @defaultValue 5 */
  classes?: number
  palette?: RampName
  reverse?: boolean
}

/** What is counted, or computed, of the rows of a cell. */
export type CellValue<Name extends string = string> = 'count' | `${'sum' | 'avg' | 'min' | 'max'}(${Name})`

export interface LookOptions<Row extends object = Properties> {
  /** Colours features by the values of an attribute. */
  colorBy?: (keyof Row & string) | ColorBy<Row> | undefined
  /** Sizes points and lines by the values of an attribute. */
  sizeBy?: (keyof Row & string) | SizeBy<Row> | undefined
  /** Shows the density of points. */
  heat?: boolean | Heat<Row> | undefined
  /** Shows how many rows of a dataset, or which values, lie in hexagons. */
  hexagons?: boolean | Cells<Row> | undefined
  /** The same in squares. */
  grid?: boolean | Cells<Row> | undefined
}

/** Layers and legend of a source, for the theme of the style that comes. */
export interface Look {
  layers(theme: Theme): SourceLayer[]
  legend(theme: Theme, locale?: string): RecipeLegend
}

/** What is shown far out in place of the features. */
export interface FarLook {
  /** Of heat and cells without end: undefined. */
  readonly below: number | undefined
  layers(theme: Theme): SourceLayer[]
  legend(theme: Theme, locale: string | undefined, zoom: number): RecipeLegend
  /** Cells come from a source of their own. */
  readonly cells?: CellSource
}

export interface CellSource {
  readonly id: string
  /** The TileJSON of the cells, with the filter and the time of the data source. */
  address(): string
  /** Called when the map is at rest; true if the colours have changed. */
  learn(gl: MapLibreMap): boolean
}

export interface Looks {
  readonly name: string
  readonly far?: FarLook
  readonly near?: Look
}

/** The looks of a data source on its map. */
export interface DrawnLook {
  layers(theme: Theme, style: StyleSpecification): LayerSpecification[]
  legend(theme: Theme, locale?: string): RecipeLegend
  /** After another filter, time or change of the data. */
  reload(): void
  /** Takes away what it added to the map, besides the layers of the data source. */
  end(): void
}

export const hasLook = ({ colorBy, sizeBy, heat, hexagons, grid }: LookOptions): boolean =>
  colorBy !== undefined || sizeBy !== undefined || Boolean(heat || hexagons || grid)
