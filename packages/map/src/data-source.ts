/// <reference lib="dom" />
/** A data source of a map (a dataset, a URL or a collection): its MapLibre source and layers, selection and popup. */

import type { LngLat, MapGeoJSONFeature, Source, StyleSpecification } from 'maplibre-gl'
import { breakUp, type ClickableSource } from './clicks.ts'
import { boundLayers, defaultLayers, type LayersOption } from './default-layers.ts'
import { followSource } from './follow-source.ts'
import type { FeatureCollection } from './geojson.ts'
import type { GraticuleMap } from './graticule-map.ts'
import { propertiesInCollection, propertiesInTiles } from './loaded-properties.ts'
import type { ClickedFeature } from './popups.ts'
import { type FeatureId, type Properties, type SelectedFeature, Selection } from './selection.ts'
import {
  defaultSourceLayer,
  noFeatures,
  queryFeatures,
  reload,
  type SourceData,
  sourceDataOf,
  specificationOf,
} from './source-data.ts'
import { checkSourceOptions, type DataSourceOptions, refusal, typeOf } from './source-options.ts'
import type { Theme } from './theme.ts'
import { typedEvents } from './typed-events.ts'

export interface DataSourceEvents {
  /** The selected ids or the loaded properties of their features changed. */
  selectionchange: { readonly ids: FeatureId[]; readonly features: SelectedFeature[] }
  /** The source failed; the rest of the map works. Logged to the console unless the event's default is prevented. */
  error: { readonly error: Error }
  /** The source has loaded everything that the map shows of it. */
  data: null
  /** The source is no longer live: its dataset cannot be followed, is gone, or may not be read. `error` says so too. */
  liveend: { readonly error: Error }
}

export class DataSource extends typedEvents<DataSourceEvents>() implements ClickableSource {
  readonly id: string
  readonly map: GraticuleMap
  readonly #options: DataSourceOptions
  readonly #selection: Selection
  #data: SourceData
  #held: FeatureCollection = noFeatures
  #layers: LayersOption | undefined
  #layerIds: string[] = []
  /** The MapLibre source that was added; a change of the style replaces or removes it. */
  #added: Source | undefined
  #loading: AbortController | undefined
  /** Whether properties of selected features may be older than the tiles that come. */
  #isStale = false
  #stopFollowing: (() => void) | undefined
  #isRemoved = false

  constructor(options: DataSourceOptions) {
    super()
    checkSourceOptions(options)
    this.#options = { ...options }
    this.id = options.id
    this.map = options.svcMap
    this.#layers = options.layers
    this.#data = sourceDataOf(options, this.map.client)
    if (this.#data.kind === 'inline') this.#held = this.#data.features
    this.#selection = new Selection(options.selectionMode ?? 'none', this.map.state, options, {
      mark: (id, isSelected) => this.#mark(id, isSelected),
      loaded: (ids) => this.#loadedProperties(ids),
      fetched: (ids) => this.#fetchedProperties(ids),
      changed: () => this.#tellSelection(),
      failed: (error) => this.fail(error),
    })
    this.map.add(this)
    if (this.#data.kind === 'dataset') void this.refresh()
    this.#selection.bind()
    this.#follow()
  }

  get selectedIds(): FeatureId[] {
    return this.#selection.ids
  }

  get selectedFeatures(): SelectedFeature[] {
    return this.#selection.features
  }

  /** Replaces the selection. */
  select(ids: FeatureId | readonly FeatureId[]): void {
    if (this.#selection.mode === 'none')
      throw refusal('selectionMode', 'is "none". Set it to "single" or "multi" to select features.')
    this.#selection.select(typeof ids === 'object' ? ids : [ids])
  }

  clear(): void {
    this.#selection.select([])
  }

  /** Replaces the layers; without an argument, restores the default ones. */
  setLayers(layers?: LayersOption): void {
    this.#layers = layers
    if (!this.#added) return
    this.#removeLayers()
    this.map.whenStyled((style, theme) => this.#addLayers(style, theme))
  }

  /** Shows another collection, URL or dataset of the same type. */
  setSrc(src: DataSourceOptions['src']): void {
    const options = { ...this.#options, src }
    checkSourceOptions(options)
    if (typeOf(options) !== typeOf(this.#options)) throw refusal('src', 'must be of the same type as before.')
    this.#options.src = src
    this.#data = sourceDataOf(options, this.map.client)
    if (this.#data.kind === 'inline') this.#held = this.#data.features
    void this.refresh()
    this.#follow()
  }

  /** Reloads the data and keeps the selection. */
  async refresh(): Promise<void> {
    this.#loading?.abort()
    const loading = new AbortController()
    this.#loading = loading
    try {
      if (this.#data.kind === 'dataset') {
        const { apiKey, limit } = this.#options
        const query = limit ? { limit } : {}
        this.#held = await queryFeatures(this.map.client, this.#data.datasetId, query, {
          apiKey,
          signal: loading.signal,
        })
      }
      if (loading.signal.aborted) return
      this.#loading = undefined
      if (this.#added) await reload(this.#added, this.#data, this.#held)
      if (this.#holdsFeatures) this.#selection.renew()
      else this.#isStale = true
    } catch (error) {
      if (loading.signal.aborted) return
      this.#loading = undefined
      this.fail(error)
    }
  }

  /** Removes the source from the map. The selection in the application state stays. */
  remove(): void {
    if (this.#isRemoved) return
    this.#isRemoved = true
    this.#loading?.abort()
    this.#stopFollowing?.()
    this.#selection.unbind()
    if (this.map.gl.getSource(this.id) === this.#added && this.#added) {
      this.#removeLayers()
      this.map.gl.removeSource(this.id)
    }
    this.#added = undefined
    this.map.delete(this)
  }

  /** @internal */
  get layerIds(): readonly string[] {
    return this.#layerIds
  }

  /** @internal */
  get isClickable(): boolean {
    return (
      this.#selection.mode !== 'none' || this.#options.selectionPopup !== undefined || this.#options.cluster === true
    )
  }

  /** @internal Adds source and layers to a loaded style, unless it has them. */
  attach(style: StyleSpecification, theme: Theme): void {
    const { gl } = this.map
    if (this.#added && gl.getSource(this.id) === this.#added) return
    if (gl.getSource(this.id)) {
      this.fail(new Error(`id: the style has a source "${this.id}" of its own. Choose another id.`))
      return
    }
    gl.addSource(this.id, specificationOf(this.#data, this.#options, this.#held))
    this.#added = gl.getSource(this.id)
    this.#addLayers(style, theme)
    this.#selection.markAll()
  }

  /** @internal */
  clicked(feature: MapGeoJSONFeature, lngLat: LngLat): void {
    if (feature.properties.point_count !== undefined)
      return void breakUp(this.map.gl, feature).catch((error) => this.fail(error))
    const isSelected = this.#selectClicked(feature)
    const { selectionPopup } = this.#options
    if (!selectionPopup || !isSelected) return
    const shown = { type: 'Feature', geometry: feature.geometry, properties: feature.properties } as ClickedFeature
    if (feature.id !== undefined) shown.id = feature.id
    const context = { feature: shown, lngLat, source: this, map: this.map }
    this.map.popups.open(selectionPopup, context).catch((error) => this.fail(error))
  }

  /** @internal */
  clickedElsewhere(isEmptyArea: boolean): void {
    if (isEmptyArea || this.#options.selectionClear) this.clear()
  }

  /** @internal */
  loaded(isOfTile: boolean): void {
    if (this.#loading) return
    if (this.#isStale && isOfTile) {
      this.#isStale = false
      this.#selection.renew()
    } else this.#selection.complete()
    this.dispatchEvent(new CustomEvent('data', { detail: null }))
  }

  /** @internal Whether features are on their way. */
  get isLoading(): boolean {
    return this.#loading !== undefined
  }

  /** @internal */
  expect(): void {
    this.#isStale = true
  }

  /** @internal */
  fail(error: unknown): void {
    this.map.report(this, error)
  }

  /** Returns whether the clicked feature is selected now, or true if the mode is `none`. */
  #selectClicked({ id, properties }: MapGeoJSONFeature): boolean {
    if (this.#selection.mode === 'none') return true
    if (id === undefined) {
      this.fail(new Error('featureId: the clicked feature has no id. Name the property that identifies features.'))
      return true
    }
    const clicked = new Map([[String(id), properties]])
    const isDropped = this.#selection.mode === 'multi' && this.#selection.has(id)
    const others = this.selectedIds.filter((other) => String(other) !== String(id))
    this.#selection.select(isDropped ? others : [...others, id], clicked)
    return !isDropped
  }

  /** Follows the dataset if the source is live. */
  #follow(): void {
    this.#stopFollowing?.()
    if (!this.#options.live) return
    this.#stopFollowing = followSource(this, this.#data, this.#options.apiKey, {
      failed: (error) => this.fail(error),
      ended: (error) => this.map.endLive(this.id, error, this),
    })
  }

  #addLayers(style: StyleSpecification, theme: Theme): void {
    const { gl } = this.map
    const chosen = typeof this.#layers === 'function' ? this.#layers(theme) : this.#layers
    const layers = boundLayers(chosen ?? defaultLayers(this.#options, theme, style), this.id, this.#sourceLayer)
    this.#layerIds = layers.map(({ id }) => id)
    for (const layer of layers) gl.addLayer(layer)
  }

  #removeLayers(): void {
    const { gl } = this.map
    for (const id of this.#layerIds) if (gl.getLayer(id)?.source === this.id) gl.removeLayer(id)
    this.#layerIds = []
  }

  get #holdsFeatures(): boolean {
    return this.#data.kind === 'inline' || this.#data.kind === 'dataset'
  }

  get #sourceLayer(): string | undefined {
    return this.#data.kind === 'tiles' ? (this.#options.sourceLayer ?? defaultSourceLayer) : undefined
  }

  #mark(id: FeatureId, isSelected: boolean): void {
    const { gl } = this.map
    if (!this.#added || gl.getSource(this.id) !== this.#added) return
    const target = { source: this.id, id, ...(this.#sourceLayer && { sourceLayer: this.#sourceLayer }) }
    if (isSelected) gl.setFeatureState(target, { selected: true })
    else gl.removeFeatureState(target, 'selected')
  }

  #loadedProperties(ids: readonly FeatureId[]): ReadonlyMap<string, Properties> {
    const { featureId } = this.#options
    if (this.#holdsFeatures) return propertiesInCollection(this.#held, ids, featureId)
    return propertiesInTiles(this.map.gl, { id: this.id, featureId, sourceLayer: this.#sourceLayer }, ids)
  }

  async #fetchedProperties(ids: readonly FeatureId[]): Promise<ReadonlyMap<string, Properties>> {
    const { featureId, apiKey } = this.#options
    const datasetId = 'datasetId' in this.#data ? this.#data.datasetId : undefined
    // Otherwise the properties come with the tiles, the file or the running query.
    if (!datasetId || this.#loading) return new Map()
    // The primary key of tables that uploads make is `id`.
    const where = { [featureId ?? 'id']: { $in: ids } }
    const answer = await queryFeatures(this.map.client, datasetId, { where, limit: ids.length }, { apiKey })
    return propertiesInCollection(answer, ids, featureId)
  }

  #tellSelection(): void {
    const { selectedIds: ids, selectedFeatures: features } = this
    this.dispatchEvent(new CustomEvent('selectionchange', { detail: { ids, features } }))
  }
}
