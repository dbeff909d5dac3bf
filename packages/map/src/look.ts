/**
 * How features look by their values: the options `colorBy`, `sizeBy` and `heat` of a data source. What they need to know of the
 * values, and the layers made of it, are in `recipe/` and loaded when a source has such an option.
 */
import type { SourceLayer } from './default-layers.ts'
import type { BreakMethod } from './recipe/breaks.ts'
import type { RecipeLegend } from './recipe/legend-items.ts'
import type { RampName } from './recipe/palettes.ts'
import type { Theme } from './theme.ts'

export interface ColorBy {
  attribute: string
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

export interface SizeBy {
  attribute: string
  /** The smallest and the largest radius of points or width of lines, in pixels. */
  range?: readonly [number, number]
}

export interface Heat {
  /** The attribute that weighs points. @defaultValue each counts one */
  weight?: string
  /** How far a point reaches at zoom 10, in pixels. @defaultValue 24 */
  radius?: number
  palette?: RampName
}

export interface LookOptions {
  /** Colours features by the values of an attribute. */
  colorBy?: string | ColorBy | undefined
  /** Sizes points and lines by the values of an attribute. */
  sizeBy?: string | SizeBy | undefined
  /** Shows the density of points. */
  heat?: boolean | Heat | undefined
}

/** Layers and legend of a source, for the theme of the style that comes. */
export interface Look {
  layers(theme: Theme): SourceLayer[]
  legend(theme: Theme, locale?: string): RecipeLegend
}

export const hasLook = ({ colorBy, sizeBy, heat }: LookOptions): boolean =>
  colorBy !== undefined || sizeBy !== undefined || (heat !== undefined && heat !== false)
