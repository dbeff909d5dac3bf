/** MapLibre's attribution opens by default, and would cover a small map. */
import type { Map as MapLibreMap } from 'maplibre-gl'

const narrowPixels = 600

export function collapseCredits(gl: MapLibreMap): void {
  gl.once('idle', () => {
    const container = gl.getContainer()
    if (container.clientWidth > narrowPixels) return
    const credits = container.querySelector('.maplibregl-ctrl-attrib')
    credits?.classList.remove('maplibregl-compact-show')
    credits?.removeAttribute('open')
  })
}
