/// <reference lib="dom" />
/** The tooltip of a map, beside the pointer: of one feature at a time. */
import type { LngLat, Map as MapLibreMap, Popup } from 'maplibre-gl'
import type { PopupContext, PopupFunction } from './popups.ts'

export class Tooltip {
  readonly #gl: MapLibreMap
  #popup: Popup | undefined
  #turn = 0

  constructor(gl: MapLibreMap) {
    this.#gl = gl
  }

  /** Shows the content for a feature in place of the last one. */
  async show(content: PopupFunction, context: Omit<PopupContext, 'close'>): Promise<void> {
    const turn = ++this.#turn
    const made = await content({ ...context, close: () => this.hide() })
    const { fillPopup } = await import('./popup-content.ts')
    if (turn !== this.#turn) return
    this.hide()
    if (made === null || made === undefined) return
    const look = { closeButton: false, closeOnClick: false, offset: 12, className: 'graticule-tooltip' }
    this.#popup = fillPopup(made, look).setLngLat(context.lngLat).addTo(this.#gl)
    // The pointer must reach what is below it.
    this.#popup.getElement().style.pointerEvents = 'none'
  }

  move(lngLat: LngLat): void {
    this.#popup?.setLngLat(lngLat)
  }

  hide(): void {
    this.#turn++
    this.#popup?.remove()
    this.#popup = undefined
  }
}
