/** The layers of selected features, in the console's selection colour. */
import type { SourceLayer } from '@graticule/map'

export function selectedLayers(theme: 'light' | 'dark'): SourceLayer[] {
  const colour = tokenColour('--select', theme)
  const edge = tokenColour('--surface', theme)
  const isA = (type: string) => ['match', ['geometry-type'], [type, `Multi${type}`], true, false]
  return [
    { id: 'selected-fill', type: 'fill', filter: isA('Polygon'), paint: { 'fill-color': colour, 'fill-opacity': 0.5 } },
    {
      id: 'selected-line',
      type: 'line',
      filter: ['!', isA('Point')],
      layout: { 'line-join': 'round', 'line-cap': 'round' },
      paint: { 'line-color': colour, 'line-width': 3 },
    },
    {
      id: 'selected-point',
      type: 'circle',
      filter: isA('Point'),
      paint: {
        'circle-color': colour,
        'circle-radius': ['interpolate', ['linear'], ['zoom'], 0, 6, 12, 10],
        'circle-stroke-color': edge,
        'circle-stroke-width': 2,
      },
    },
  ] as SourceLayer[]
}

/** Resolves a design token to a colour that MapLibre understands, through a computed style. */
function tokenColour(token: string, theme: 'light' | 'dark'): string {
  const probe = document.createElement('span')
  probe.style.colorScheme = theme
  probe.style.color = `var(${token})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
