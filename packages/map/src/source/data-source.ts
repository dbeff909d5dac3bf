/// <reference lib="dom" />
/** A data source of a map (a dataset, a URL or a collection): its MapLibre source and layers, selection and popup. */
import type { FitBoundsOptions, Source } from 'maplibre-gl'
import type { LayersOption } from '../default-layers.ts'
import type { GeoJsonCollection } from '../geojson.ts'
import type { GraticuleMap } from '../graticule-map.ts'
import { beginLater } from '../live/later.ts'
import type { RecipeLegend } from '../recipe/legend-items.ts'
import { type FeatureId, type Properties, type SelectedFeature, Selection } from '../selection.ts'
import type { Theme } from '../theme.ts'
import { TypedEventTarget } from '../typed-events.ts'
import { fetchedProperties, loadedProperties } from './loaded-properties.ts'
import {
  defaultSourceLayer,
  holdsFeatures,
  noFeatures,
  reload,
  type SourceData,
  sourceDataOf,
  specificationOf,
} from './source-data.ts'
import type { DataSourceEvents } from './source-events.ts'
import type { SourceFilter } from './source-filter.ts'
import { SourceLayers } from './source-layers.ts'
import { checkSourceOptions, type DataSourceOptions, mapOf, refusal, typeOf } from './source-options.ts'
import { SourcePointer } from './source-pointer.ts'

/** `Row`, the type of its rows, is what names of attributes are checked against; any name without it. */
export class DataSource<Row extends object = Properties> extends TypedEventTarget<DataSourceEvents<Row>> {
  readonly id: string
  readonly map: GraticuleMap
  /** @internal */
  readonly options: DataSourceOptions
  /** @internal */
  readonly selection: Selection
  #data: SourceData
  #held: GeoJsonCollection = noFeatures
  readonly #layers: SourceLayers
  readonly #pointer: SourcePointer
  /** The MapLibre source that was added; a change of the style replaces or removes it. */
  #added: Source | undefined
  #loading: AbortController | undefined
  /** Whether properties of selected features may be older than the tiles that come. */
  #isStale = false
  #stopFollowing: (() => void) | undefined
  #isRemoved = false

  constructor(given: DataSourceOptions<NoInfer<Row>>) {
    super()
    const options = given as unknown as DataSourceOptions
    checkSourceOptions(options)
    this.options = { ...options }
    this.id = options.id
    this.map = mapOf(options)
    this.#layers = new SourceLayers(this)
    this.#pointer = new SourcePointer(this)
    this.#data = sourceDataOf(options, this.map.client)
    this.selection = new Selection(options.selectionMode ?? 'none', this.map.state, options, {
      mark: (id, isSelected) => this.mark(id, 'selected', isSelected),
      loaded: (ids) => loadedProperties(this, this.#data, this.#held, ids),
      fetched: (ids) => (this.#loading ? Promise.resolve(new Map()) : fetchedProperties(this, this.#data, ids)),
      changed: () => this.#tellSelection(),
      failed: (error) => this.fail(error),
    })
    this.map.add(this)
    this.#begin()
    this.selection.bind()
  }

  get selectedIds(): FeatureId[] {
    return this.selection.ids
  }

  get selectedFeatures(): SelectedFeature<Row>[] {
    return this.selection.features as SelectedFeature<Row>[]
  }

  /** Replaces the selection. */
  select(ids: FeatureId | readonly FeatureId[]): void {
    if (this.selection.mode === 'none')
      throw refusal('selectionMode', 'is "none". Set it to "single" or "multi" to select features.')
    this.selection.select(typeof ids === 'object' ? ids : [ids])
  }

  clear(): void {
    this.selection.select([])
  }

  /** Replaces the layers; without an argument, restores those that the other options make. */
  setLayers(layers?: LayersOption): void {
    this.options.layers = layers
    this.#layers.draw()
  }

  /** Shows another collection, URL or dataset of the same type. */
  setSrc(src: DataSourceOptions['src']): void {
    this.#change({ src })
    this.#begin()
  }

  /** Shows the rows of the dataset for which the filter holds; null shows all. Classes of colours stay. */
  setFilter(filter: SourceFilter<Row> | null): void {
    this.#change({ filter: (filter ?? undefined) as SourceFilter | undefined })
    void this.refresh()
  }

  /** Shows the rows of a period, such as `2024-01/2024-03`; null shows those of all times. */
  setTime(time: string | null): void {
    this.#change({ time: time ?? undefined })
    void this.refresh()
  }

  get visible(): boolean {
    return this.options.visible ?? true
  }

  setVisible(visible: boolean): void {
    this.#change({ visible })
    this.#layers.setVisible()
  }

  /** From 0 to 1, times that of the layers. */
  setOpacity(opacity: number): void {
    this.#change({ opacity })
    this.#layers.setOpacity()
  }

  /** Moves the map to where the features are. Resolves when it begins to move; false if there are none. */
  async fit(options: FitBoundsOptions = {}): Promise<boolean> {
    const { boxOfSource } = await import('./source-box.ts')
    const box = await boxOfSource(this.map.client, this.#data, this.options, this.#held, this.#added)
    if (box && !this.#isRemoved) this.map.fit(box, options)
    return box !== undefined
  }

  /** Reloads the data and keeps the selection. */
  async refresh(): Promise<void> {
    this.#loading?.abort()
    const loading = new AbortController()
    this.#loading = loading
    try {
      if (this.#data.kind === 'dataset') {
        const request = { apiKey: this.options.apiKey, signal: loading.signal }
        const { datasetId } = this.#data
        const { queryFeatures } = await import('./query-features.ts')
        const held = await queryFeatures(this.map.client, datasetId, this.options, request)
        if (!loading.signal.aborted) this.#held = held
      }
      if (loading.signal.aborted) return
      this.#loading = undefined
      this.#layers.reloadCells()
      if (this.#added) await reload(this.#added, this.#data, this.#held)
      if (holdsFeatures(this.#data)) this.selection.renew()
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
    this.selection.unbind()
    this.#pointer.end()
    if (this.isAttached) {
      this.#layers.end()
      this.map.gl.removeSource(this.id)
    }
    this.#added = undefined
    this.map.delete(this)
  }

  /** @internal Whether the style that is shown has the source. */
  get isAttached(): boolean {
    return this.#added !== undefined && this.map.gl.getSource(this.id) === this.#added
  }

  /** @internal */
  get layerIds(): readonly string[] {
    return this.#layers.ids
  }

  /** @internal Undefined where nothing is to explain. */
  legend(theme: Theme, locale?: string): RecipeLegend | undefined {
    return this.#layers.legend(theme, locale)
  }

  /** @internal Adds source and layers to a loaded style, unless it has them. */
  attach(): void {
    const { gl } = this.map
    if (this.#data.kind === 'name' || this.isAttached) return
    if (gl.getSource(this.id)) {
      this.fail(new Error(`id: the style has a source "${this.id}" of its own. Choose another id.`))
      return
    }
    gl.addSource(this.id, specificationOf(this.#data, this.options, this.#held))
    this.#added = gl.getSource(this.id)
    this.#layers.draw()
    this.selection.markAll()
  }

  /** @internal */
  get pointer(): SourcePointer {
    return this.#pointer
  }

  /** @internal */
  loaded(isOfTile: boolean): void {
    if (this.#loading) return
    if (this.#isStale && isOfTile) {
      this.#isStale = false
      this.selection.renew()
    } else this.selection.complete()
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

  /** Follows the dataset if the source is live. */
  #follow(): void {
    this.#stopFollowing?.()
    if (!this.options.live) return
    const data = this.#data
    const { apiKey } = this.options
    const failed = (error: unknown) => this.fail(error)
    const outcome = { failed, ended: (error: unknown) => this.map.endLive(this.id, error, this) }
    this.#stopFollowing = beginLater(
      import('../live/follow-source.ts').then(
        ({ followSource }) =>
          () =>
            followSource(this, data, apiKey, outcome),
      ),
      failed,
    )
  }

  /** Asks for everything that the data of the source needs. */
  #begin(): void {
    if (this.#data.kind === 'name') return void this.#lookUp(this.#data.name).catch((error) => this.fail(error))
    if (this.#data.kind === 'inline') this.#held = this.#data.features
    if (this.#data.kind === 'dataset' || this.#added) void this.refresh()
    this.#follow()
    this.#layers.makeLook(this.#data)
  }

  async #lookUp(name: string): Promise<void> {
    const { idOfName } = await import('../named-records.ts')
    const id = await idOfName(this.map.client, 'dataset', name, this.options.apiKey)
    if (this.#isRemoved || this.options.src !== name) return
    this.#change({ src: id })
    this.map.whenStyled(() => this.attach())
    this.#begin()
  }

  #change(changed: Partial<DataSourceOptions>): void {
    const options = { ...this.options, ...changed }
    checkSourceOptions(options)
    if (typeOf(options) !== typeOf(this.options)) throw refusal('src', 'must be of the same type as before.')
    Object.assign(this.options, changed)
    if ('src' in changed || 'filter' in changed || 'time' in changed)
      this.#data = sourceDataOf(options, this.map.client)
  }

  /** @internal */
  get sourceLayer(): string | undefined {
    return this.#data.kind === 'tiles' ? (this.options.sourceLayer ?? defaultSourceLayer) : undefined
  }

  /** @internal Sets a feature state that layers can use. */
  mark(id: FeatureId | undefined, state: 'selected' | 'hover', isSet: boolean): void {
    const { gl } = this.map
    if (id === undefined || !this.isAttached) return
    const target = { source: this.id, id, ...(this.sourceLayer && { sourceLayer: this.sourceLayer }) }
    if (isSet) gl.setFeatureState(target, { [state]: true })
    else gl.removeFeatureState(target, state)
  }

  #tellSelection(): void {
    const { selectedIds: ids, selectedFeatures: features } = this
    this.dispatchEvent(new CustomEvent('selectionchange', { detail: { ids, features } }))
  }
}
