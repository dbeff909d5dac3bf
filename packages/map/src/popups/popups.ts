/// <reference lib="dom" />
/** Popups of clicked features. Texts and elements cannot inject markup; only `html` is parsed as HTML. */
import type { Feature } from '@graticule/client'
import type { LngLat, Map as MapLibreMap, Popup, PopupOptions } from 'maplibre-gl'
import type { GraticuleMap } from '../graticule-map.ts'
import { nearestName } from '../nearest-name.ts'
import type { FeatureId, Properties, RowProperties } from '../selection.ts'
import type { DataSource } from '../source/data-source.ts'

export type ClickedFeature<Row extends object = Properties> = Feature<RowProperties<Row>> & { id?: FeatureId }

export interface PopupContext<Row extends object = Properties> {
  readonly feature: ClickedFeature<Row>
  readonly lngLat: LngLat
  readonly source: DataSource
  readonly map: GraticuleMap
  /** Closes the popup. */
  close(): void
}

/** The content, with MapLibre's popup options. A string is shown as plain text; null shows no popup. */
export type PopupContent = string | Node | PopupDescription | null | undefined
export type PopupDescription = PopupOptions & { text?: string; element?: Node; html?: string }
export type PopupFunction<Row extends object = Properties> = (
  context: PopupContext<Row>,
) => PopupContent | Promise<PopupContent>

/** The built-in popup `properties`. */
const allProperties: PopupFunction = async (context) => (await import('./popup-content.ts')).propertyTable(context)

/** The offset in pixels, so that the tip does not cover the point. */
const pointOffset = 6

export class Popups {
  readonly #gl: MapLibreMap
  readonly #registered = new Map<string, PopupFunction>([['properties', allProperties]])
  #open: { popup: Popup; source: DataSource } | undefined
  #turn = 0

  constructor(gl: MapLibreMap) {
    this.#gl = gl
  }

  register(id: string, popup: PopupFunction): void {
    if (typeof popup !== 'function') throw new TypeError(`registerPopup: the popup "${id}" must be a function.`)
    this.#registered.set(id, popup)
  }

  /** Opens the popup of a feature and closes the previous one. */
  async open(popup: string | PopupFunction, context: Omit<PopupContext, 'close'>): Promise<void> {
    const show = typeof popup === 'function' ? popup : this.#find(popup)
    this.close()
    const turn = this.#turn
    const content = await show({ ...context, close: () => turn === this.#turn && this.close() })
    const { fillPopup, popupPosition } = await import('./popup-content.ts')
    // A later click has opened another popup, or there is no content.
    if (turn !== this.#turn || content === null || content === undefined) return
    const offset = context.feature.geometry.type === 'Point' ? pointOffset : 0
    const opened = fillPopup(content, { offset }).setLngLat(popupPosition(context))
    this.#open = { popup: opened.addTo(this.#gl), source: context.source }
  }

  /** Closes the open popup; with a source, only if the popup belongs to it. */
  close(source?: DataSource): void {
    if (source && this.#open?.source !== source) return
    this.#turn++
    this.#open?.popup.remove()
    this.#open = undefined
  }

  #find(id: string): PopupFunction {
    const popup = this.#registered.get(id)
    if (popup) return popup
    const names = [...this.#registered.keys()]
    const nearest = nearestName(id, names)
    const hint = nearest ? ` Did you mean "${nearest}"?` : ''
    throw new Error(`selectionPopup: no popup "${id}" is registered.${hint} Registered: ${names.join(', ')}.`)
  }
}

/** A template tag that escapes values: html`<b>${name}</b>`. */
export function html(parts: TemplateStringsArray, ...values: unknown[]): string {
  return String.raw({ raw: parts }, ...values.map((value) => escapeHtml(String(value ?? ''))))
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
