/** The looks of a data source on its map: which layers there are far out and close in, the source of cells, and what the legend says. */
import type { LayerSpecification, VectorTileSource } from 'maplibre-gl'
import { boundLayers, defaultLayers, usualColour, withClusters } from '../default-layers.ts'
import type { DrawnLook, Looks } from '../look.ts'
import type { DataSource } from '../source/data-source.ts'
import type { Theme } from '../theme.ts'

const layerOfCells = 'geometry'

export function drawnLook(source: DataSource, { name, far, near }: Looks): DrawnLook {
  const { map, options } = source
  const { gl } = map
  const tell = () => map.tellLegend()

  function farLayers(theme: Theme): LayerSpecification[] {
    if (!far) return []
    const layers = far.layers(theme).map((layer) => ({ ...layer, ...(far.below && { maxzoom: far.below }) }))
    if (!far.cells) return boundLayers(layers, source.id, source.sourceLayer)
    const { id, address } = far.cells
    if (!gl.getSource(id)) gl.addSource(id, { type: 'vector', url: address() })
    return boundLayers(layers, id, layerOfCells)
  }

  /** The colours of cells are those of the zoom. */
  function learn(): void {
    if (!far?.cells?.learn(gl)) return
    map.whenStyled((_, theme) => {
      for (const { id, paint } of farLayers(theme))
        for (const [property, value] of Object.entries(paint ?? {}))
          if (property.endsWith('-color') && gl.getLayer(id)) gl.setPaintProperty(id, property as 'fill-color', value)
    })
    tell()
  }

  gl.on('zoomend', tell)
  gl.on('idle', learn)
  return {
    layers(theme, style) {
      if (far && far.below === undefined) return farLayers(theme)
      const close = near
        ? withClusters(near.layers(theme), options, theme, style)
        : defaultLayers(options, theme, style)
      const from = far?.below ?? 0
      const layers = far ? close.map((layer) => ({ ...layer, minzoom: Math.max(layer.minzoom ?? 0, from) })) : close
      return [...farLayers(theme), ...boundLayers(layers, source.id, source.sourceLayer)]
    },
    legend(theme, locale) {
      const zoom = gl.getZoom()
      if (far && (far.below === undefined || zoom < far.below)) return far.legend(theme, locale, zoom)
      if (near) return near.legend(theme, locale)
      const item = { key: 'one', colour: usualColour(theme), label: name, shape: 'point' as const }
      return { id: source.id, title: name, items: [item] }
    },
    reload() {
      const cells = far?.cells && gl.getSource<VectorTileSource>(far.cells.id)
      if (cells && far?.cells) cells.setUrl(far.cells.address())
    },
    end() {
      gl.off('zoomend', tell)
      gl.off('idle', learn)
      const id = far?.cells?.id
      if (!id || !gl.getSource(id)) return
      for (const layer of gl.getStyle().layers) if ('source' in layer && layer.source === id) gl.removeLayer(layer.id)
      gl.removeSource(id)
    },
  }
}
