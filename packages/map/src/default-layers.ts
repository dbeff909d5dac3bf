/**
 * The default layers of a data source: one for each geometry type, coloured for a light or dark style, with selected
 * features (feature state `selected`) in another colour. Also binds given layers to their source.
 */
import type { LayerSpecification, StyleSpecification } from 'maplibre-gl'
import type { Theme } from './theme.ts'

type WithoutSource<Layer> = Layer extends { source: string }
  ? Omit<Layer, 'id' | 'source' | 'source-layer'> & { id?: string }
  : never

/** A MapLibre layer without `source` and `source-layer`. Without an `id` it gets one from the source's id and its type. */
export type SourceLayer = WithoutSource<LayerSpecification>
export type LayersOption = readonly SourceLayer[] | ((theme: Theme) => readonly SourceLayer[])

type Draft = { id: string; type: string }

const palettes = {
  light: { colour: '#1c6dd0', selected: '#e8590c', edge: '#ffffff', text: '#ffffff' },
  dark: { colour: '#4dabf7', selected: '#ffa94d', edge: '#10141a', text: '#10141a' },
}

export const usualColour = (theme: Theme): string => palettes[theme].colour
export const selectedColour = (theme: Theme): string => palettes[theme].selected

const isA = (type: string) => ['match', ['geometry-type'], [type, `Multi${type}`], true, false]
export const ifSelected = (then: unknown, otherwise: unknown) => [
  'case',
  ['boolean', ['feature-state', 'selected'], false],
  then,
  otherwise,
]
const byZoom = (...stops: [number, unknown][]) => ['interpolate', ['linear'], ['zoom'], ...stops.flat()]

/** Their ids are the source's id and what they show: `cities-point`. */
export function defaultLayers(
  { id, cluster = false }: { id: string; cluster?: boolean | undefined },
  theme: Theme,
  style: StyleSpecification,
): SourceLayer[] {
  const layers = [...layersByGeometry(theme, cluster), ...(cluster ? clusterLayers(theme, style) : [])]
  return layers.map((layer) => ({ ...layer, id: `${id}-${layer.id}` })) as unknown as SourceLayer[]
}

function layersByGeometry(theme: Theme, isClustered: boolean) {
  const { colour, selected, edge } = palettes[theme]
  const chosen = ifSelected(selected, colour)
  const isPoint = isClustered ? ['all', isA('Point'), ['!', ['has', 'point_count']]] : isA('Point')
  return [
    {
      id: 'fill',
      type: 'fill',
      filter: isA('Polygon'),
      paint: { 'fill-color': chosen, 'fill-opacity': ifSelected(0.55, 0.3) },
    },
    {
      id: 'outline',
      type: 'line',
      filter: isA('Polygon'),
      layout: { 'line-join': 'round' },
      paint: { 'line-color': chosen, 'line-width': byZoom([0, ifSelected(2, 0.5)], [12, ifSelected(3, 1.5)]) },
    },
    {
      id: 'line',
      type: 'line',
      filter: isA('LineString'),
      layout: { 'line-join': 'round', 'line-cap': 'round' },
      paint: { 'line-color': chosen, 'line-width': byZoom([0, ifSelected(3, 1.5)], [14, ifSelected(6, 4)]) },
    },
    {
      id: 'point',
      type: 'circle',
      filter: isPoint,
      paint: {
        'circle-color': chosen,
        'circle-radius': byZoom([0, ifSelected(6, 3)], [12, ifSelected(10, 7)]),
        'circle-stroke-color': edge,
        'circle-stroke-width': ifSelected(2, 1),
      },
    },
  ]
}

/** Circles and counts of clusters above other layers, which are drawn for single points. */
export function withClusters(
  layers: readonly SourceLayer[],
  { id, cluster = false }: { id: string; cluster?: boolean | undefined },
  theme: Theme,
  style: StyleSpecification,
): SourceLayer[] {
  if (!cluster) return [...layers]
  const isSingle = ['!', ['has', 'point_count']]
  const single = layers.map(({ filter, ...layer }) => ({
    ...layer,
    filter: filter ? ['all', isSingle, filter] : isSingle,
  }))
  const clusters = clusterLayers(theme, style).map((layer) => ({ ...layer, id: `${id}-${layer.id}` }))
  return [...single, ...clusters] as unknown as SourceLayer[]
}

function clusterLayers(theme: Theme, style: StyleSpecification): Draft[] {
  const { colour, edge, text } = palettes[theme]
  const circle = {
    id: 'cluster',
    type: 'circle',
    filter: ['has', 'point_count'],
    paint: {
      'circle-color': colour,
      'circle-opacity': 0.85,
      'circle-radius': ['+', 10, ['*', 2.5, ['ln', ['get', 'point_count']]]],
      'circle-stroke-color': edge,
      'circle-stroke-width': 1.5,
    },
  }
  // A style without glyphs cannot draw text.
  if (!style.glyphs) return [circle]
  const label = {
    id: 'cluster-count',
    type: 'symbol',
    filter: ['has', 'point_count'],
    layout: {
      'text-field': ['get', 'point_count_abbreviated'],
      'text-font': fontOf(style),
      'text-size': 12,
      'text-allow-overlap': true,
      'text-ignore-placement': true,
    },
    paint: { 'text-color': text },
  }
  return [circle, label]
}

/** A font that the style's glyphs are known to have, because the style uses it; upright if possible. */
function fontOf({ layers }: StyleSpecification): string[] {
  const fonts: string[][] = []
  for (const layer of layers) {
    const font = layer.type === 'symbol' ? layer.layout?.['text-font'] : undefined
    if (Array.isArray(font) && font.every((name) => typeof name === 'string') && font[0] !== 'literal')
      fonts.push(font as string[])
  }
  return fonts.find(([name = '']) => !/italic|oblique/i.test(name)) ?? fonts[0] ?? ['Noto Sans Regular']
}

/** Completes layers for MapLibre: adds ids, source and source layer. */
export function boundLayers(
  layers: readonly SourceLayer[],
  source: string,
  sourceLayer?: string,
): LayerSpecification[] {
  const taken = new Set<string>()
  return layers.map((layer) => {
    const wanted = layer.id ?? `${source}-${layer.type}`
    let id = wanted
    for (let number = 2; taken.has(id); number++) id = `${wanted}-${number}`
    taken.add(id)
    return { ...layer, id, source, ...(sourceLayer && { 'source-layer': sourceLayer }) } as LayerSpecification
  })
}
