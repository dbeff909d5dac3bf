import type { ExpressionSpecification, FilterSpecification, LayerSpecification } from '@maplibre/maplibre-gl-style-spec'
import type { Flavor } from '@protomaps/basemaps'

type Adaptations = Readonly<Record<string, Adaptation>>
type Adaptation = { minzoom?: number; filter?: FilterSpecification; layout?: object; paint?: object }

/** A feature appears at its own zoom level, also in the deepest tiles, which hold what only closer views show. */
const isDue: ExpressionSpecification = ['<=', ['coalesce', ['get', 'min_zoom'], 0], ['+', ['zoom'], 0.5]]
const isKind = (kind: string): ExpressionSpecification => ['==', ['get', 'kind'], kind]

/** Protomaps’ layers are made for street maps; a map of the world wants rivers, borders and land cover earlier. */
export function adaptLayers(layers: readonly LayerSpecification[], flavor: Flavor): LayerSpecification[] {
  const changes: Adaptations = { ...ground, ...waterLabels(flavor), ...placeLabels }
  return layers.flatMap((layer) => {
    const change = changes[layer.id]
    const adapted = change ? (merge(layer, change) as LayerSpecification) : layer
    return layer.id === 'boundaries_country' ? [adapted, contested(adapted)] : [adapted]
  })
}

const merge = (layer: LayerSpecification, { layout, paint, ...rest }: Adaptation): object => ({
  ...layer,
  ...rest,
  layout: { ...layer.layout, ...layout },
  paint: { ...layer.paint, ...paint },
})

const zoomed = (...stops: (number | unknown)[]) => ['interpolate', ['linear'], ['zoom'], ...stops]

const ground: Adaptations = {
  landcover: { paint: { 'fill-opacity': 1, 'fill-antialias': false } },
  water_river: {
    minzoom: 2,
    filter: ['all', isKind('river'), isDue],
    layout: { 'line-cap': 'round', 'line-join': 'round' },
    paint: { 'line-width': ['interpolate', ['exponential', 1.4], ['zoom'], 2, 0.4, 5, 0.9, 9, 1.8, 18, 12] },
  },
  boundaries_country: {
    filter: ['all', ['<=', ['get', 'kind_detail'], 2], ['!', ['has', 'disputed']]],
    layout: { 'line-join': 'round' },
    paint: { 'line-width': zoomed(0, 0.5, 3, 0.9, 6, 1.5, 10, 2.2), 'line-dasharray': [1, 0] },
  },
  boundaries: {
    filter: ['all', ['>', ['get', 'kind_detail'], 2], isDue],
    paint: { 'line-width': zoomed(3, 0.3, 6, 0.7, 10, 1.2), 'line-opacity': 0.7, 'line-dasharray': [3, 2] },
  },
}

function waterLabels(flavor: Flavor): Adaptations {
  return {
    water_label_ocean: {
      filter: [
        'all',
        ['in', ['get', 'kind'], ['literal', ['sea', 'ocean', 'bay', 'strait', 'fjord']]],
        ['has', 'name'],
        isDue,
      ],
      layout: {
        'text-size': zoomed(
          0,
          ['match', ['get', 'kind'], 'ocean', 11, 9],
          3,
          ['match', ['get', 'kind'], 'ocean', 17, 11],
          6,
          ['match', ['get', 'kind'], 'ocean', 22, 14],
        ),
        'text-letter-spacing': 0.15,
        'text-max-width': 7,
        'text-transform': ['match', ['get', 'kind'], 'ocean', 'uppercase', 'none'],
      },
    },
    water_label_lakes: {
      filter: ['all', ['in', ['get', 'kind'], ['literal', ['lake', 'water']]], ['has', 'name'], isDue],
    },
    water_waterway_label: {
      minzoom: 5,
      layout: { 'text-size': zoomed(5, 10, 12, 12), 'symbol-spacing': 350, 'text-letter-spacing': 0.12 },
      filter: ['all', ['in', ['get', 'kind'], ['literal', ['river', 'stream']]], ['has', 'name'], isDue],
      paint: { 'text-color': riverLabel(flavor), 'text-halo-color': flavor.earth },
    },
  }
}

/** Rivers are named on land, where the pale letters of a dark sea would not be seen. */
const riverLabel = ({ ocean_label, country_label, earth, water }: Flavor): string =>
  brightness(water) < brightness(earth) && brightness(ocean_label) > brightness(water) ? country_label : ocean_label

const brightness = (hex: string): number => Number.parseInt(hex.slice(3, 5), 16)

const citySize = zoomed(2, bySize(10, 9), 4, bySize(13, 10.5), 6, bySize(16, 12), 9, bySize(19, 14), 14, bySize(24, 16))

function bySize(large: number, small: number): ExpressionSpecification {
  return ['interpolate', ['linear'], ['coalesce', ['get', 'population_rank'], 0], 10, small, 15, large]
}

const placeLabels: Adaptations = {
  places_country: {
    filter: ['all', isKind('country'), isDue],
    layout: { 'text-letter-spacing': 0.08, 'text-max-width': 7 },
    paint: { 'text-halo-width': 1.4, 'text-halo-blur': 0.4 },
  },
  places_region: {
    filter: ['all', isKind('region'), isDue],
    layout: { 'text-size': zoomed(4, 9, 7, 12, 10, 15), 'text-letter-spacing': 0.12, 'text-max-width': 6 },
  },
  places_locality: {
    filter: ['all', isKind('locality'), isDue],
    layout: {
      'icon-size': zoomed(2, ['match', ['get', 'capital'], 'yes', 0.5, 0.45], 6, [
        'match',
        ['get', 'capital'],
        'yes',
        0.75,
        0.6,
      ]),
      'text-size': citySize,
      'text-radial-offset': 0.45,
    },
    paint: { 'text-halo-width': 1.3, 'text-halo-blur': 0.3 },
  },
  pois: {
    layout: { 'text-size': zoomed(4, 9.5, 10, 12), 'text-offset': [0.9, 0], 'icon-size': zoomed(3, 0.7, 7, 0.95) },
    paint: { 'text-halo-width': 1.2 },
  },
}

/** Borders that are not agreed on are dotted. */
const contested = (border: LayerSpecification): LayerSpecification =>
  merge({ ...border, id: 'boundaries_contested' } as LayerSpecification, {
    filter: ['all', ['<=', ['get', 'kind_detail'], 2], ['has', 'disputed']],
    paint: { 'line-dasharray': [2, 2] },
  }) as LayerSpecification
