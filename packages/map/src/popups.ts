/// <reference lib="dom" />
/** Popups of clicked features. Text and elements are safe with any data; markup is taken only from `html`. */
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

/** What to show, and MapLibre's popup options. A text alone is shown as it is; null shows nothing. */
export type PopupContent = string | Node | PopupDescription | null | undefined
export type PopupDescription = PopupOptions & { text?: string; element?: Node; html?: string }
export type PopupFunction = (context: PopupContext) => PopupContent | Promise<PopupContent>

/** So that the tip does not cover the point, in pixels. */
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

  /** Shows the popup of a feature in place of the one that is open. */
  async open(popup: string | PopupFunction, context: Omit<PopupContext, 'close'>): Promise<void> {
    const show = typeof popup === 'function' ? popup : this.#find(popup)
    this.close()
    const turn = this.#turn
    const content = await show({ ...context, close: () => turn === this.#turn && this.close() })
    // Another click came first, or there is nothing to show.
    if (turn !== this.#turn || content === null || content === undefined) return
    const { text, element, html, ...options } = descriptionOf(content)
    const offset = context.feature.geometry.type === 'Point' ? pointOffset : 0
    const opened = new Popup({ offset, ...options }).setLngLat(placeOf(context))
    if (element) opened.setDOMContent(element)
    else if (text === undefined) opened.setHTML(html ?? '')
    else opened.setText(text)
    this.#open = { popup: opened.addTo(this.#gl), source: context.source }
  }

  /** Closes the popup that is open: of the source, if one is said. */
  close(source?: DataSource): void {
    if (source && this.#open?.source !== source) return
    this.#turn++
    this.#open?.popup.remove()
    this.#open = undefined
  }

  #find(id: string): PopupFunction {
    const found = this.#registered.get(id)
    if (found) return found
    const names = [...this.#registered.keys()]
    const nearest = nearestName(id, names)
    const hint = nearest ? ` Did you mean "${nearest}"?` : ''
    throw new Error(`selectionPopup: no popup "${id}" is registered.${hint} Registered: ${names.join(', ')}.`)
  }
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

/** A point's popup points at it; others have theirs where the click was. */
function placeOf({ feature: { geometry }, lngLat }: Pick<PopupContext, 'feature' | 'lngLat'>): LngLat {
  if (geometry.type !== 'Point') return lngLat
  const [longitude = 0, latitude = 0] = geometry.coordinates
  // On the copy of the world that was clicked.
  return new LngLat(longitude + Math.round((lngLat.lng - longitude) / 360) * 360, latitude)
}

/** The popup `properties`: what the feature has, as a table. */
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

/** Tag of template literals that escapes values: html`<b>${name}</b>`. */
export function html(parts: TemplateStringsArray, ...values: unknown[]): string {
  return String.raw({ raw: parts }, ...values.map((value) => escapeHtml(String(value ?? ''))))
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
