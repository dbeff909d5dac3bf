/// <reference lib="dom" />
/** Popups and tooltips with their content. Loaded when the first one is shown. */
import { LngLat, Popup, type PopupOptions } from 'maplibre-gl'
import type { PopupContent, PopupContext, PopupDescription } from './popups.ts'

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
export function popupPosition({ feature: { geometry }, lngLat }: Pick<PopupContext, 'feature' | 'lngLat'>): LngLat {
  if (geometry.type !== 'Point') return lngLat
  const [longitude = 0, latitude = 0] = geometry.coordinates
  // On the world copy that was clicked.
  return new LngLat(longitude + Math.round((lngLat.lng - longitude) / 360) * 360, latitude)
}

/** A table of the feature's properties. */
export function propertyTable({ feature }: PopupContext): Node {
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
