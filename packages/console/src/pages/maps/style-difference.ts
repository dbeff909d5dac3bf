/** The difference of two styles as cheap MapLibre calls; null if the structure changed, which needs `setStyle`. */
import type { LayerSpecification, StyleSpecification } from '@maplibre/maplibre-gl-style-spec'
import type { Map as MapLibreMap } from 'maplibre-gl'

type Setter =
  | readonly ['setPaintProperty' | 'setLayoutProperty', layer: string, name: string, value: unknown]
  | readonly ['setFilter', layer: string, filter: unknown]
  | readonly ['setLayerZoomRange', layer: string, from: number, to: number]

/** Null if layers or sources were added, removed or moved. */
export function styleDifference(before: StyleSpecification, after: StyleSpecification): Setter[] | null {
  if (!isSame(frameOf(before), frameOf(after))) return null
  return after.layers.flatMap((layer, index) => {
    const earlier = before.layers[index]
    return earlier && earlier !== layer ? layerDifference(earlier, layer) : []
  })
}

/** The parts that no cheap call can change. */
function frameOf({ layers, name: _, metadata: __, center: ___, zoom: ____, ...rest }: StyleSpecification): unknown {
  return [rest, layers.map((layer) => [layer.id, layer.type, sourceOf(layer)])]
}

const sourceOf = (layer: LayerSpecification): unknown =>
  'source' in layer ? [layer.source, layer['source-layer']] : null

function layerDifference(before: LayerSpecification, after: LayerSpecification): Setter[] {
  const setters: Setter[] = [
    ...properties(before.paint, after.paint).map(
      ([name, value]) => ['setPaintProperty', after.id, name, value] as const,
    ),
    ...properties(before.layout, after.layout).map(
      ([name, value]) => ['setLayoutProperty', after.id, name, value] as const,
    ),
  ]
  const [filterBefore, filterAfter] = [filterOf(before), filterOf(after)]
  if (!isSame(filterBefore, filterAfter)) setters.push(['setFilter', after.id, filterAfter ?? null])
  if (before.minzoom !== after.minzoom || before.maxzoom !== after.maxzoom)
    setters.push(['setLayerZoomRange', after.id, after.minzoom ?? 0, after.maxzoom ?? 24])
  return setters
}

const filterOf = (layer: LayerSpecification): unknown => ('filter' in layer ? layer.filter : undefined)

/** The properties that differ; undefined restores the default. */
function properties(before: object = {}, after: object = {}): [string, unknown][] {
  const earlier = before as Record<string, unknown>
  const later = after as Record<string, unknown>
  const names = new Set([...Object.keys(earlier), ...Object.keys(later)])
  return [...names].filter((name) => !isSame(earlier[name], later[name])).map((name) => [name, later[name]])
}

const isSame = (one: unknown, other: unknown): boolean => one === other || JSON.stringify(one) === JSON.stringify(other)

export function applyDifference(gl: MapLibreMap, setters: readonly Setter[]): void {
  for (const [method, ...values] of setters) {
    const set = gl[method] as (...values: readonly unknown[]) => unknown
    set.apply(gl, values)
  }
}
