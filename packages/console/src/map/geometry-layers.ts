/** Layers that draw any geometry in one colour: one for each kind, since a column may hold all of them. */
import type { SourceLayer } from '@graticule/map'

const isA = (type: string) => ['match', ['geometry-type'], [type, `Multi${type}`], true, false]
const byZoom = (...stops: number[]) => ['interpolate', ['linear'], ['zoom'], ...stops]

/** `edge` is the outline colour of points, which separates dense ones. */
export const geometryLayers = (colour: string, edge: string): SourceLayer[] =>
  [
    { type: 'fill', filter: isA('Polygon'), paint: { 'fill-color': colour, 'fill-opacity': 0.35 } },
    {
      type: 'line',
      filter: ['!', isA('Point')],
      layout: { 'line-join': 'round' },
      paint: { 'line-color': colour, 'line-width': byZoom(0, 0.7, 8, 1.5, 14, 3) },
    },
    {
      type: 'circle',
      filter: isA('Point'),
      paint: {
        'circle-color': colour,
        'circle-radius': byZoom(0, 1.6, 4, 3.5, 10, 6),
        'circle-stroke-color': edge,
        'circle-stroke-width': byZoom(2, 0, 5, 1),
      },
    },
  ] as unknown as SourceLayer[]
