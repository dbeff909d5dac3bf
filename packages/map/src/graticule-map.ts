/// <reference lib="dom" />
/** A MapLibre map with a style and data of a Graticule server. */
import {
  type FitBoundsOptions,
  type LngLatBoundsLike,
  Map as MapLibreMap,
  type MapOptions,
  type StyleSpecification,
  setWorkerUrl,
} from 'maplibre-gl'
import type { Legend, LegendOptions } from './controls/legend.ts'
import type { MeasureControl, MeasureOptions } from './controls/measure-control.ts'
import type { PlaceSearch, PlaceSearchOptions } from './controls/place-search.ts'
import type { TimeControl, TimeControlOptions } from './controls/time-control.ts'
import { approachLater, firstFitOptions, fitOptions } from './fit.ts'
import type { StyleFollower } from './live/follow-style.ts'
import { beginLater } from './live/later.ts'
import { errorOf, isId, isName, type MapClient, namedSource, transformFor } from './map-client.ts'
import type { GraticuleMapEvents } from './map-events.ts'
import { checkMapOptions, type GraticuleMapOptions } from './map-options.ts'
import { handlePointer } from './pointer.ts'
import { type PopupFunction, Popups } from './popups/popups.ts'
import { Tooltip } from './popups/tooltips.ts'
import type { RecipeLegend } from './recipe/legend-items.ts'
import type { RecipeLegends, ShownParts } from './saved/show-recipes.ts'
import type { DataSource } from './source/data-source.ts'
import { createState, type State } from './state.ts'
import { type Theme, themeOf } from './theme.ts'
import { TypedEventTarget } from './typed-events.ts'

/** The parts of MapLibre's error event that identify what failed. */
type Failure = { error: unknown; sourceId?: string; layer?: { id: string } }

const loadControls = () => import('./controls/add-controls.ts')

export class GraticuleMap extends TypedEventTarget<GraticuleMapEvents> {
  /** The MapLibre map. */
  readonly gl: MapLibreMap
  readonly client: MapClient
  readonly state: State
  /** @internal */
  readonly popups: Popups
  /** @internal */
  readonly tooltip: Tooltip
  /** @internal Clicks are for the measure, and open no popups. */
  isMeasuring = false
  readonly #theme: Theme | undefined
  readonly #sources = new Map<string, DataSource>()
  #styleError: Error | undefined
  /** The name of the style that is being looked up. */
  #styleName: string | undefined
  #follower: StyleFollower | undefined
  #stopFollowing: (() => void) | undefined
  /** @internal Of the recipes that are shown. */
  recipeLegends: RecipeLegends = () => []

  constructor(options: GraticuleMapOptions) {
    super()
    checkMapOptions(options)
    const { client, style, state, theme, live = false, recipes = false, workerUrl, transformRequest, ...rest } = options
    if (workerUrl !== undefined) setWorkerUrl(workerUrl)
    this.client = client
    this.state = state ?? createState()
    this.#theme = theme
    const isNamed = typeof style === 'string' && isName(style)
    this.gl = new MapLibreMap({
      ...rest,
      ...(rest.bounds && { fitBoundsOptions: { ...firstFitOptions(rest.bounds), ...rest.fitBoundsOptions } }),
      ...(!isNamed && { style: this.#addressOf(style) }),
      transformRequest: transformFor(client, transformRequest),
    } as MapOptions)
    this.popups = new Popups(this.gl)
    this.tooltip = new Tooltip(this.gl)
    handlePointer(this.gl, () => (this.isMeasuring ? [] : [...this.#sources.values()]))
    this.#listen()
    if (isNamed) void this.#setNamedStyle(style)
    this.setLive(live)
    if (recipes) this.#showRecipes(recipes)
    const { bounds, fitBoundsOptions } = rest
    if (bounds) approachLater(this.gl, bounds, () => this.fit(bounds, { ...fitBoundsOptions, animate: false }))
  }

  /** Resolves when the style is loaded; rejects if loading fails. */
  async ready(): Promise<this> {
    if (this.gl.getStyle()) return this
    if (this.#styleError) throw this.#styleError
    return new Promise((resolve, reject) => {
      const onStyle = () => end(() => resolve(this))
      const onError = () => this.#styleError && end(() => reject(this.#styleError))
      const end = (settle: () => void) => {
        this.gl.off('style.load', onStyle)
        this.gl.off('error', onError)
        settle()
      }
      this.gl.on('style.load', onStyle)
      this.gl.on('error', onError)
    })
  }

  /** Replaces the style. Data sources and their selections stay. */
  setStyle(style: string | StyleSpecification): void {
    this.#styleError = undefined
    this.#styleName = undefined
    if (typeof style === 'string' && isName(style)) void this.#setNamedStyle(style)
    else this.gl.setStyle(this.#addressOf(style))
  }

  /** Follows the datasets of the style's sources, or ends that. Data sources have an option of their own. */
  setLive(live: boolean): void {
    if (live === (this.#stopFollowing !== undefined)) return
    this.#stopFollowing?.()
    this.#stopFollowing = live ? this.#followStyle() : undefined
  }

  /** Moves the map to an extent; to a point only as close as the base map has something to show. Options of MapLibre's `fitBounds`. */
  fit(bounds: LngLatBoundsLike, options: FitBoundsOptions = {}): void {
    this.gl.fitBounds(bounds, { ...this.fitOptions(bounds), ...options })
  }

  /** @internal */
  fitOptions(bounds: LngLatBoundsLike): FitBoundsOptions {
    return fitOptions(this.gl, bounds, (id) => this.#sources.has(id))
  }

  /** Adds a legend of the data sources that are coloured or sized by values. Removed by `map.gl.removeControl`. */
  async legend(options?: LegendOptions): Promise<Legend> {
    return (await loadControls()).addLegend(this, options)
  }

  /** Adds a search box for places. Removed by `map.gl.removeControl`. */
  async search(options?: PlaceSearchOptions): Promise<PlaceSearch> {
    return (await loadControls()).addSearch(this, options)
  }

  /** Adds a slider over the time of a data source. Removed by `map.gl.removeControl`. */
  async time(options: TimeControlOptions): Promise<TimeControl> {
    return (await loadControls()).addTime(this, options)
  }

  /** Adds a button that measures distances and areas. Removed by `map.gl.removeControl`. */
  async measure(options?: MeasureOptions): Promise<MeasureControl> {
    return (await loadControls()).addMeasure(this, options)
  }

  /** Registers a popup under an id, for `selectionPopup`. */
  registerPopup(id: string, popup: PopupFunction): void {
    this.popups.register(id, popup)
  }

  getSource(id: string): DataSource | undefined {
    return this.#sources.get(id)
  }

  /** Removes the data sources and the map itself. */
  remove(): void {
    for (const source of [...this.#sources.values()]) source.remove()
    this.setLive(false)
    this.popups.close()
    this.tooltip.hide()
    this.gl.remove()
  }

  /** @internal */
  add(source: DataSource): void {
    if (this.#sources.has(source.id))
      throw new TypeError(`DataSource: id "${source.id}" is taken by another source of this map.`)
    this.#sources.set(source.id, source)
    this.whenStyled(() => source.attach())
  }

  /** @internal */
  delete(source: DataSource): void {
    this.popups.close(source)
    if (this.#sources.get(source.id) === source) this.#sources.delete(source.id)
    this.tellLegend()
  }

  /** @internal Runs `work` if a style is loaded. Otherwise the sources are attached when it is. */
  whenStyled(work: (style: StyleSpecification, theme: Theme) => void): void {
    const style = this.gl.getStyle()
    if (style) work(style, this.#theme ?? themeOf(style))
  }

  /** @internal Of the visible sources that have one, the topmost first, and of the style's recipes where they are shown. */
  legends(locale?: string): RecipeLegend[] {
    const found: RecipeLegend[] = []
    this.whenStyled((_, theme) => {
      for (const source of this.#sources.values()) found.unshift(...[source.legend(theme, locale) ?? []].flat())
      found.push(...this.recipeLegends(theme, locale))
    })
    return found
  }

  /** @internal */
  tellLegend(): void {
    this.dispatchEvent(new CustomEvent('legendchange', { detail: null }))
  }

  /** @internal */
  report(source: DataSource, cause: unknown): void {
    const error = errorOf(cause, `Data source "${source.id}": `)
    const events = [
      source.dispatchEvent(new CustomEvent('error', { detail: { error }, cancelable: true })),
      this.dispatchEvent(new CustomEvent('sourceerror', { detail: { source, error }, cancelable: true })),
    ]
    if (!events.includes(false)) console.error(error.message)
  }

  /** @internal */
  endLive(sourceId: string, cause: unknown, source?: DataSource): void {
    const error = errorOf(cause, `${source ? 'Data source' : 'Source'} "${sourceId}": `)
    const detail = { sourceId, error, ...(source && { source }) }
    source?.dispatchEvent(new CustomEvent('liveend', { detail: { error } }))
    this.dispatchEvent(new CustomEvent('liveend', { detail }))
    // Nobody asked for a particular source of the style to be live.
    source?.fail(cause)
  }

  /** Returns a function that ends it. */
  #followStyle(): () => void {
    const map = {
      gl: this.gl,
      client: this.client,
      isOwned: (id: string) => this.#sources.has(id),
      failed: (id: string, cause: unknown) => this.#fail(errorOf(cause, `Source "${id}": `)),
      ended: (id: string, cause: unknown) => this.endLive(id, cause),
    }
    const begin = (follower: StyleFollower) => {
      this.#follower = follower
      this.whenStyled(({ sources }) => follower.checkAll(Object.keys(sources)))
      return () => {
        this.#follower = undefined
        follower.end()
      }
    }
    const load = import('./live/follow-style.ts').then(
      ({ followStyle }) =>
        () =>
          begin(followStyle(map)),
    )
    return beginLater(load, (error) => this.#fail(errorOf(error)))
  }

  #showRecipes(parts: ShownParts): void {
    const load = import('./saved/show-recipes.ts').then((module) => () => module.showRecipes(this, parts))
    const end = beginLater(load, (error) => this.#fail(errorOf(error)))
    this.gl.once('remove', end)
  }

  #fail(error: Error): void {
    if (this.dispatchEvent(new CustomEvent('error', { detail: { error }, cancelable: true })))
      console.error(error.message)
  }

  async #setNamedStyle(name: string): Promise<void> {
    this.#styleName = name
    try {
      const { idOfName } = await import('./named-records.ts')
      const id = await idOfName(this.client, 'style', name)
      if (this.#styleName === name) this.gl.setStyle(this.client.maps.url(id))
    } catch (error) {
      // As if MapLibre had not found it: `ready` rejects, and the event says why.
      if (this.#styleName === name) this.gl.fire('error', { error })
    }
  }

  #addressOf(style: string | StyleSpecification): string | StyleSpecification {
    return typeof style === 'string' && isId(style) ? this.client.maps.url(style) : style
  }

  #listen(): void {
    const { gl } = this
    gl.on('style.load', () =>
      this.whenStyled((style) => {
        for (const source of this.#sources.values()) source.attach()
        this.#follower?.checkAll(Object.keys(style.sources))
      }),
    )
    gl.on('sourcedata', ({ sourceId, isSourceLoaded, sourceDataType, tile }) => {
      if (sourceDataType === 'metadata') this.#follower?.check(sourceId)
      if (isSourceLoaded && sourceDataType !== 'metadata') this.#sources.get(sourceId)?.loaded(Boolean(tile))
    })
    gl.on('error', (failure: Failure) => {
      const source = this.#sourceOf(failure)
      if (source) return source.fail(failure.error)
      const error = errorOf(failure.error)
      if (!gl.getStyle()) this.#styleError = error
      this.#fail(error)
    })
  }

  #sourceOf({ error, sourceId, layer }: Failure): DataSource | undefined {
    const id = sourceId ?? namedSource(error)
    if (id !== undefined) return this.#sources.get(id) ?? this.#sources.get(id.replace(/-cells$/, ''))
    return layer && [...this.#sources.values()].find(({ layerIds }) => layerIds.includes(layer.id))
  }
}
