/** The layers of a data source on the map: where they are added, whether they are seen, and how opaque they are. */
import type { LayerSpecification, Map as MapLibreMap, StyleSpecification } from 'maplibre-gl'
import { boundLayers, defaultLayers, type SourceLayer } from '../default-layers.ts'
import { type DrawnLook, hasLook } from '../look.ts'
import type { RecipeLegend } from '../recipe/legend-items.ts'
import type { Theme } from '../theme.ts'
import type { DataSource } from './data-source.ts'
import type { SourceData } from './source-data.ts'

/** The paint properties that make a layer opaque, by type. */
const opacities: Readonly<Record<string, readonly string[]>> = {
  fill: ['fill-opacity'],
  line: ['line-opacity'],
  circle: ['circle-opacity', 'circle-stroke-opacity'],
  symbol: ['icon-opacity', 'text-opacity'],
  heatmap: ['heatmap-opacity'],
  'fill-extrusion': ['fill-extrusion-opacity'],
}

export class SourceLayers {
  readonly #source: DataSource
  #layers: readonly LayerSpecification[] = []
  /** Layers and legend by the values of attributes; undefined while they are made. */
  #look: DrawnLook | undefined
  #turn = 0

  constructor(source: DataSource) {
    this.#source = source
  }

  get ids(): readonly string[] {
    return this.#layers.map(({ id }) => id)
  }

  /** Undefined where nothing is to explain. */
  legend(theme: Theme, locale?: string): RecipeLegend | undefined {
    return this.#isVisible && !this.#source.options.layers ? this.#look?.legend(theme, locale) : undefined
  }

  /** Finds out how features look by their values, if an option asks for it, and draws them. */
  makeLook(data: SourceData): void {
    const turn = ++this.#turn
    const source = this.#source
    this.#forget()
    if (!hasLook(source.options)) return
    import('../recipe/look-of-source.ts')
      .then(({ lookOf }) => lookOf(source, data))
      .then((begin) => {
        if (turn !== this.#turn) return
        this.#look = begin()
        this.draw()
      })
      .catch((error) => source.fail(error))
  }

  /** Draws the layers in place of the present ones. They lie below the layer `beforeId`, otherwise above all. */
  draw(): void {
    const source = this.#source
    if (!source.isAttached) return
    source.map.whenStyled((style, theme) => {
      const { beforeId } = source.options
      const isThere = beforeId === undefined || this.#gl.getLayer(beforeId) !== undefined
      if (!isThere) source.fail(new Error(`beforeId: the style has no layer "${beforeId}".`))
      this.remove()
      this.#layers =
        this.#look && !source.options.layers
          ? this.#look.layers(theme, style)
          : boundLayers(this.#wanted(theme, style), source.id, source.sourceLayer)
      for (const layer of this.#layers) this.#gl.addLayer(this.#shown(layer), isThere ? beforeId : undefined)
      source.map.tellLegend()
    })
  }

  /** Those of the options if there are any, otherwise by the values of attributes, otherwise the default ones. */
  #wanted(theme: Theme, style: StyleSpecification): readonly SourceLayer[] {
    const { options } = this.#source
    if (options.layers) return typeof options.layers === 'function' ? options.layers(theme) : options.layers
    // Until it is known how they look, nothing is drawn: other colours would flash.
    return hasLook(options) ? [] : defaultLayers(options, theme, style)
  }

  /** After another filter, time or change of the data. */
  reloadCells(): void {
    this.#look?.reload()
  }

  /** Removes everything from the map. */
  end(): void {
    this.remove()
    this.#forget()
  }

  /** The layers stay until others are drawn, but for those of cells, whose source goes. */
  #forget(): void {
    this.#look?.end()
    this.#look = undefined
  }

  remove(): void {
    for (const id of this.#present()) this.#gl.removeLayer(id)
    this.#layers = []
  }

  setVisible(): void {
    for (const { id, layout } of this.#added())
      this.#gl.setLayoutProperty(id, 'visibility', this.#isVisible ? (layout?.visibility ?? 'visible') : 'none')
    this.#source.map.tellLegend()
  }

  setOpacity(): void {
    for (const layer of this.#added())
      for (const [name, value] of Object.entries(this.#paint(layer)))
        this.#gl.setPaintProperty(layer.id, name as 'fill-opacity', value as number)
  }

  get #gl(): MapLibreMap {
    return this.#source.map.gl
  }

  get #isVisible(): boolean {
    return this.#source.options.visible ?? true
  }

  get #opacity(): number {
    return this.#source.options.opacity ?? 1
  }

  #shown(layer: LayerSpecification): LayerSpecification {
    const layout = this.#isVisible ? layer.layout : { ...layer.layout, visibility: 'none' }
    const paint = { ...layer.paint, ...(this.#opacity < 1 && this.#paint(layer)) }
    return { ...layer, ...(layout && { layout }), paint } as LayerSpecification
  }

  #paint({ type, paint = {} }: LayerSpecification): Record<string, unknown> {
    const given = paint as Record<string, unknown>
    return Object.fromEntries((opacities[type] ?? []).map((name) => [name, scaled(given[name] ?? 1, this.#opacity)]))
  }

  #added(): LayerSpecification[] {
    const present = this.#present()
    return this.#layers.filter(({ id }) => present.includes(id))
  }

  /** A style may have taken them away, or have layers of these ids itself. */
  #present(): string[] {
    const { id: own } = this.#source
    return this.ids.filter((id) => [own, `${own}-cells`].includes(this.#gl.getLayer(id)?.source ?? ''))
  }
}

/** A value or expression times a factor. The zoom may only be the input of an outermost `interpolate` or `step`. */
function scaled(value: unknown, factor: number): unknown {
  if (typeof value === 'number') return value * factor
  if (!Array.isArray(value)) return value
  const [operator] = value
  if (operator === 'step')
    return value.map((part, index) => (index >= 2 && index % 2 === 0 ? scaled(part, factor) : part))
  if (operator === 'interpolate')
    return value.map((part, index) => (index >= 4 && index % 2 === 0 ? scaled(part, factor) : part))
  return ['*', factor, value]
}
