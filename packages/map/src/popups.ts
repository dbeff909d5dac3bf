/// <reference lib="dom" />
/** Popups of clicked features. Texts and elements cannot inject markup; only `html` is parsed as HTML. */
import type { Feature } from '@graticule/client'
import { LngLat, type Map as MapLibreMap, Popup, type PopupOptions } from 'maplibre-gl'
import type { DataSource } from './data-source.ts'
import type { GraticuleMap } from './graticule-map.ts'
import { nearestName } from './nearest-name.ts'
import type { FeatureId } from './selection.ts'

export type ClickedFeature = Feature & { id?: FeatureId }

export interface PopupContext {
  readonly feature: ClickedFeature
  readonly lngLat: LngLat
  readonly source: DataSource
  readonly map: GraticuleMap
  /** Closes the popup. */
  close(): void
}

/** The content, with MapLibre's popup options. A string is shown as plain text; null shows no popup. */
export type PopupContent = string | Node | PopupDescription | null | undefined
export type PopupDescription = PopupOptions & { text?: string; element?: Node; html?: string }
export type PopupFunction = (context: PopupContext) => PopupContent | Promise<PopupContent>

/** The offset in pixels, so that the tip does not cover the point. */
const pointOffset = 6

export class Popups {
  readonly #gl: MapLibreMap
  readonly #registered = new Map<string, PopupFunction>([['properties', propertyTable]])
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
    // A later click has opened another popup, or there is no content.
    if (turn !== this.#turn || content === null || content === undefined) return
    const offset = context.feature.geometry.type === 'Point' ? pointOffset : 0
    const opened = fillPopup(content, { offset }).setLngLat(placeOf(context))
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

/** A popup with the content. What a description says comes before `options`. */
export function fillPopup(content: NonNullable<PopupContent>, options: PopupOptions): Popup {
  const { text, element, html, ...own } = descriptionOf(content)
  const popup = new Popup({ ...options, ...own })
  if (element) return popup.setDOMContent(element)
  return text === undefined ? popup.setHTML(html ?? '') : popup.setText(text)
}

function descriptionOf(content: string | Node | PopupDescription): PopupDescription {
  if (typeof content === 'string') return { text: content }
  if (content instanceof Node) return { element: content }
  if (content.text === undefined && content.html === undefined && !content.element)
    throw new TypeError(
      'selectionPopup: the function must return a text, an element, null, or an object with one of text, element and html.',
    )
  return content
}

/** The popup of a point is at the point, others at the position of the click. */
function placeOf({ feature: { geometry }, lngLat }: Pick<PopupContext, 'feature' | 'lngLat'>): LngLat {
  if (geometry.type !== 'Point') return lngLat
  const [longitude = 0, latitude = 0] = geometry.coordinates
  // On the world copy that was clicked.
  return new LngLat(longitude + Math.round((lngLat.lng - longitude) / 360) * 360, latitude)
}

/** The built-in popup `properties`: a table of the feature's properties. */
function propertyTable({ feature }: PopupContext): Node {
  const table = document.createElement('table')
  for (const [name, value] of Object.entries(feature.properties)) {
    const row = table.insertRow()
    const heading = document.createElement('th')
    heading.style.textAlign = 'left'
    heading.textContent = name
    row.append(heading)
    row.insertCell().textContent =
      value !== null && typeof value === 'object' ? JSON.stringify(value) : String(value ?? '')
  }
  return table
}

/** A template tag that escapes values: html`<b>${name}</b>`. */
export function html(parts: TemplateStringsArray, ...values: unknown[]): string {
  return String.raw({ raw: parts }, ...values.map((value) => escapeHtml(String(value ?? ''))))
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
