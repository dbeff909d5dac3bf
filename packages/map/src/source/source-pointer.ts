/// <reference lib="dom" />
/** What the pointer does to features of a data source: events, selection, the feature state `hover`, popup and tooltip. */
import type { MapGeoJSONFeature } from 'maplibre-gl'
import type { PointerLocation } from '../pointer.ts'
import type { ClickedFeature, PopupFunction } from '../popups/popups.ts'
import type { Properties } from '../selection.ts'
import type { DataSource } from './data-source.ts'
import { popupOf, tooltipOf } from './source-content.ts'

/** A feature of a source, and where the pointer is. */
export interface FeatureEvent<Row extends object = Properties> extends PointerLocation {
  readonly feature: ClickedFeature<Row>
}

type EventType = 'click' | 'hover' | 'enter' | 'leave'

export class SourcePointer {
  readonly #source: DataSource
  readonly #tooltip: PopupFunction | undefined
  readonly #popup: string | PopupFunction | undefined
  /** What the pointer is on. */
  #current: { readonly id: MapGeoJSONFeature['id']; readonly feature: ClickedFeature } | undefined

  constructor(source: DataSource) {
    this.#source = source
    this.#tooltip = tooltipOf(source.options)
    this.#popup = popupOf(source.options)
  }

  /** Whether clicks on features do anything. */
  get isClickable(): boolean {
    const { options, listenedTo } = this.#source
    const isSelectable = (options.selectionMode ?? 'none') !== 'none'
    return isSelectable || this.#popup !== undefined || options.cluster === true || listenedTo.has('click')
  }

  /** Whether anybody wants to know what the pointer is on. */
  get isHovered(): boolean {
    const { listenedTo } = this.#source
    return this.#tooltip !== undefined || ['hover', 'enter', 'leave'].some((type) => listenedTo.has(type))
  }

  click(clicked: MapGeoJSONFeature, at: PointerLocation): void {
    const source = this.#source
    if (isCluster(clicked))
      return void import('../break-up.ts')
        .then(({ breakUp }) => breakUp(source.map.gl, clicked))
        .catch((error) => source.fail(error))
    const isSelected = this.#select(clicked)
    const feature = shownFeature(clicked)
    this.#tell('click', feature, at)
    if (!this.#popup || !isSelected) return
    const context = { feature, lngLat: at.lngLat, source, map: source.map }
    source.map.popups.open(this.#popup, context).catch((error) => source.fail(error))
  }

  clickElsewhere(isEmptyArea: boolean): void {
    if (isEmptyArea || this.#source.options.selectionClear) this.#source.clear()
  }

  move(found: MapGeoJSONFeature | undefined, at: PointerLocation): void {
    if (!this.isHovered) return
    if (!found || isCluster(found)) {
      this.end(at)
      return
    }
    const isSame = this.#current !== undefined && found.id !== undefined && this.#current.id === found.id
    if (isSame) this.#source.map.tooltip.move(at.lngLat)
    else this.#enter(found, at)
    this.#tell('hover', shownFeature(found), at)
  }

  /** The pointer has left the feature, or the source is removed. */
  end(at?: PointerLocation): void {
    const last = this.#current
    if (!last) return
    this.#current = undefined
    this.#source.mark(last.id, 'hover', false)
    if (this.#tooltip) this.#source.map.tooltip.hide()
    if (at) this.#tell('leave', last.feature, at)
  }

  #enter(found: MapGeoJSONFeature, at: PointerLocation): void {
    this.end(at)
    const source = this.#source
    const feature = shownFeature(found)
    this.#current = { id: found.id, feature }
    source.mark(found.id, 'hover', true)
    this.#tell('enter', feature, at)
    if (!this.#tooltip) return
    const context = { feature, lngLat: at.lngLat, source, map: source.map }
    source.map.tooltip.show(this.#tooltip, context).catch((error) => source.fail(error))
  }

  /** Returns whether the clicked feature is selected now, or true if the mode is `none`. */
  #select({ id, properties }: MapGeoJSONFeature): boolean {
    const { options, selection, selectedIds } = this.#source
    if (selection.mode === 'none') return true
    if (id === undefined) {
      this.#source.fail(
        new Error('featureId: the clicked feature has no id. Name the property that identifies features.'),
      )
      return true
    }
    const clicked = new Map([[String(id), properties]])
    const isDropped = options.selectionMode === 'multi' && selection.has(id)
    const others = selectedIds.filter((other) => String(other) !== String(id))
    selection.select(isDropped ? others : [...others, id], clicked)
    return !isDropped
  }

  #tell(type: EventType, feature: ClickedFeature, { lngLat, point }: PointerLocation): void {
    this.#source.dispatchEvent(new CustomEvent(type, { detail: { feature, lngLat, point } }))
  }
}

/** Clusters are no features of the data. */
const isCluster = ({ properties }: MapGeoJSONFeature): boolean => properties.point_count !== undefined

/** The feature as events and popups give it. */
function shownFeature({ id, geometry, properties }: MapGeoJSONFeature): ClickedFeature {
  const shown = { type: 'Feature', geometry, properties } as ClickedFeature
  if (id !== undefined) shown.id = id
  return shown
}
