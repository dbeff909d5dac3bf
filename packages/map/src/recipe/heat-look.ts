/** Heat maps: the density of points, or of what they weigh. */
import type { SourceLayer } from '../default-layers.ts'
import type { FarLook, Heat } from '../look.ts'
import type { Theme } from '../theme.ts'
import { distributionOf } from './defaults.ts'
import type { RecipeLegend, RecipeLegendItem } from './legend-items.ts'
import { rampColours } from './ramp-colours.ts'
import type { HeatRecipe } from './recipe.ts'
import type { LookData } from './source-look.ts'

/** A thinned row stands for as many as `svc_count` says. */
const countOf = ['to-number', ['coalesce', ['get', 'svc_count'], 1]]
const colourSteps = 6

type HeatPaint = Pick<HeatRecipe, 'weight' | 'most' | 'radius'>

export function heatPaint({ weight, most, radius }: HeatPaint, colours: readonly string[]): Record<string, unknown> {
  const own = weight === null ? 1 : ['/', ['max', 0, ['to-number', ['get', weight], 0]], most]
  return {
    'heatmap-weight': ['*', countOf, own],
    'heatmap-intensity': ['interpolate', ['linear'], ['zoom'], 0, 0.4, 10, 1.5],
    'heatmap-radius': ['interpolate', ['exponential', 1.4], ['zoom'], 0, radius / 8, 10, radius],
    'heatmap-color': [
      ...['interpolate', ['linear'], ['heatmap-density'], 0, 'rgba(0,0,0,0)'],
      ...colours.flatMap((colour, index) => [0.1 + index * 0.18, colour]),
    ],
    'heatmap-opacity': 0.85,
  }
}

export const heatColours = ({ ramp, isReversed }: Pick<HeatRecipe, 'ramp' | 'isReversed'>, theme: Theme): string[] =>
  rampColours(colourSteps, { ramp, isReversed, theme })

export function heatItems(colours: readonly string[]): RecipeLegendItem[] {
  const ends = [colours[0], colours[Math.floor(colours.length / 2)], colours.at(-1)] as string[]
  const labels = ['Low', 'Medium', 'High']
  return ends.map((colour, index) => ({ key: `heat ${index}`, colour, label: labels[index] ?? '', shape: 'area' }))
}

export async function heatLook(id: string, title: string, options: Heat, data: LookData): Promise<FarLook> {
  const { weight = null, radius = 24, palette = 'YlOrRd', below } = options
  const most = weight === null ? 1 : distributionOf(await data.statistics(weight)).max
  if (!(most > 0)) throw new Error(`heat: "${weight}" has no values above zero.`)
  const coloursOf = (theme: Theme) => heatColours({ ramp: palette, isReversed: false }, theme)
  return {
    below,
    layers: (theme: Theme) => [
      {
        id: `${id}-heat`,
        type: 'heatmap',
        paint: heatPaint({ weight, most, radius }, coloursOf(theme)),
      } as unknown as SourceLayer,
    ],
    legend: (theme: Theme): RecipeLegend => ({ id, title, items: heatItems(coloursOf(theme)) }),
  }
}
