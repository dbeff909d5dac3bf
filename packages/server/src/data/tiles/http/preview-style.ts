// Generates a MapLibre style that previews a tile source.

import type { CellAggregate } from '../../../query/plan/cell-aggregate.ts'
import type { LoadedTileSource } from '../source/tile-source-type.ts'
import { coverageOf, isVector, type Links, layersOf, link } from './tile-json.ts'

/** Distinguishable colours, one for each layer. */
const colours = ['#2f7ed8', '#e8590c', '#2b8a3e', '#9c36b5', '#c92a2a', '#0b7285', '#e67700', '#5f3dc4']
const land = '#f8f6f1'
const sea = '#dbe5ec'

/** The layers of the base map that are needed for orientation. */
const ground = [
  { id: 'background', type: 'background', paint: { 'background-color': sea } },
  { id: 'land', type: 'fill', source: 'basemap', 'source-layer': 'earth', paint: { 'fill-color': land } },
  {
    id: 'borders',
    type: 'line',
    source: 'basemap',
    'source-layer': 'boundaries',
    paint: { 'line-color': '#cfc8bd', 'line-width': 0.7 },
  },
]

/** A style for any tile source: polygons below lines below points, and labels if there is a name. */
export function previewStyle(
  loadedSource: LoadedTileSource,
  links: Links,
  extra: string,
  cells?: CellAggregate,
): object {
  const { source, name } = loadedSource
  const description = link(links, `/tiles/${source.id}/index.json`)
  const url = extra ? `${description}${description.includes('?') ? '&' : '?'}${extra}` : description
  const [longitude, latitude, zoom] = coverageOf(loadedSource)
  const common = {
    version: 8,
    name,
    center: [longitude, latitude],
    zoom,
    glyphs: link({ base: links.base }, '/fonts/{fontstack}/{range}.pbf'),
    sprite: link({ base: links.base }, '/sprites/light'),
  }
  const basemap = { type: 'vector', url: link({ base: links.base }, '/tiles/basemap/index.json') }
  if (!isVector(loadedSource)) {
    const raster = { id: 'tiles', type: 'raster', source: 'tiles' }
    return {
      ...common,
      sources: { basemap, tiles: { type: 'raster', url, tileSize: 256 } },
      layers: [...ground, raster],
    }
  }
  const layers = layersOf(loadedSource, cells).map(({ id, fields }, index) => ({
    id,
    fields,
    colour: colours[index % colours.length] ?? '',
  }))
  return {
    ...common,
    sources: { basemap, tiles: { type: 'vector', url } },
    layers: [
      ...ground,
      ...layers.flatMap(areas),
      ...layers.flatMap(lines),
      ...layers.flatMap(points),
      ...layers.flatMap(labels),
    ],
  }
}

type Layer = { id: string; fields: Record<string, string>; colour: string }

const isA = (type: string) => ['match', ['geometry-type'], [type, `Multi${type}`], true, false]
const base = (id: string, kind: string) => ({ id: `${id}-${kind}`, source: 'tiles', 'source-layer': id })

const areas = ({ id, colour }: Layer) => [
  { ...base(id, 'fill'), type: 'fill', filter: isA('Polygon'), paint: { 'fill-color': colour, 'fill-opacity': 0.35 } },
  {
    ...base(id, 'outline'),
    type: 'line',
    filter: isA('Polygon'),
    layout: { 'line-join': 'round' },
    paint: { 'line-color': colour, 'line-width': growing([0, 0.3], [8, 0.8], [16, 2]), 'line-opacity': 0.9 },
  },
]

const lines = ({ id, colour }: Layer) => [
  {
    ...base(id, 'line'),
    type: 'line',
    filter: isA('LineString'),
    layout: { 'line-join': 'round', 'line-cap': 'round' },
    paint: { 'line-color': colour, 'line-width': growing([0, 0.6], [10, 1.5], [16, 4]) },
  },
]

const points = ({ id, colour }: Layer) => [
  {
    ...base(id, 'point'),
    type: 'circle',
    filter: isA('Point'),
    paint: {
      // A cluster's radius grows with its number of points.
      'circle-radius': [
        'interpolate',
        ['linear'],
        ['zoom'],
        0,
        ['case', ['has', 'point_count'], ['+', 6, ['*', 2, ['ln', ['get', 'point_count']]]], 1.5],
        8,
        ['case', ['has', 'point_count'], ['+', 8, ['*', 2.5, ['ln', ['get', 'point_count']]]], 3.5],
        16,
        ['case', ['has', 'point_count'], ['+', 10, ['*', 3, ['ln', ['get', 'point_count']]]], 7],
      ],
      'circle-color': colour,
      'circle-opacity': 0.85,
      'circle-stroke-color': '#ffffff',
      'circle-stroke-width': growing([4, 0], [8, 0.6], [16, 1.5]),
    },
  },
]

/** Attributes that usually hold a name, the best first. */
const nameFields = ['name', 'title', 'label', 'NAME', 'Name', 'nom', 'bezeichnung', 'name_en', 'name:en']

function labels({ id, fields }: Layer): object[] {
  const named = nameFields.find((field) => Object.hasOwn(fields, field))
  if (!named) return []
  return [
    {
      ...base(id, 'label'),
      type: 'symbol',
      minzoom: 8,
      layout: {
        'text-field': ['to-string', ['coalesce', ['get', named], '']],
        'text-font': ['Noto Sans Regular'],
        'text-size': growing([8, 11], [16, 14]),
        'text-variable-anchor': ['top', 'bottom', 'left', 'right'],
        'text-radial-offset': 0.7,
        'text-optional': true,
      },
      paint: { 'text-color': '#333333', 'text-halo-color': '#ffffff', 'text-halo-width': 1.4 },
    },
  ]
}

const growing = (...stops: [number, number][]) => ['interpolate', ['linear'], ['zoom'], ...stops.flat()]
