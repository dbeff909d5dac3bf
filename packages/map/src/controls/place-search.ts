/// <reference lib="dom" />
/** A search box for places: a combobox with a list of results, which moves the map to the one that is chosen. */
import { type ControlPosition, type IControl, Marker } from 'maplibre-gl'
import type { GraticuleMap } from '../graticule-map.ts'
import type { FoundPlace } from '../map-client.ts'
import { controlColours } from './control-colours.ts'

export interface PlaceSearchOptions {
  /** @defaultValue `top-left` */
  position?: ControlPosition
  /** The label of the box, for screen readers and while it is empty. @defaultValue `Search for a place` */
  label?: string
  /** How many places are listed. @defaultValue 6 */
  limit?: number
  /** Called after the map was moved to a place. */
  onChoose?: (place: FoundPlace) => void
}

/** A place is looked for when nothing was typed for so long. */
const pauseMs = 200

let boxes = 0

export class PlaceSearch implements IControl {
  readonly #map: GraticuleMap
  readonly #options: PlaceSearchOptions
  readonly #box = document.createElement('div')
  readonly #input = document.createElement('input')
  readonly #list = document.createElement('ul')
  readonly #status = document.createElement('div')
  readonly #id = `graticule-places-${++boxes}`
  #places: readonly FoundPlace[] = []
  #active = -1
  #marker: Marker | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #request: AbortController | undefined
  readonly #paint = () => this.#map.whenStyled((_, theme) => Object.assign(this.#box.style, controlColours[theme]))

  constructor(map: GraticuleMap, options: PlaceSearchOptions = {}) {
    this.#map = map
    this.#options = options
    this.#build()
  }

  onAdd(): HTMLElement {
    this.#map.gl.on('style.load', this.#paint)
    this.#paint()
    return this.#box
  }

  onRemove(): void {
    this.#map.gl.off('style.load', this.#paint)
    this.#stop()
    this.#marker?.remove()
    this.#box.remove()
  }

  #build(): void {
    const { label = 'Search for a place' } = this.#options
    this.#box.className = 'maplibregl-ctrl maplibregl-ctrl-group graticule-search'
    this.#box.setAttribute('role', 'search')
    Object.assign(this.#box.style, {
      width: '240px',
      maxWidth: 'calc(100vw - 80px)',
      font: '13px system-ui, sans-serif',
    })
    const input = this.#input
    Object.assign(input, { type: 'text', placeholder: label, autocomplete: 'off', spellcheck: false, maxLength: 200 })
    attributes(input, {
      role: 'combobox',
      'aria-label': label,
      'aria-autocomplete': 'list',
      'aria-expanded': 'false',
      'aria-controls': this.#id,
      enterkeyhint: 'search',
    })
    Object.assign(input.style, styles.input)
    attributes(this.#list, { id: this.#id, role: 'listbox', 'aria-label': label })
    Object.assign(this.#list.style, styles.list)
    this.#list.hidden = true
    attributes(this.#status, { role: 'status' })
    Object.assign(this.#status.style, styles.hidden)
    this.#box.append(input, this.#list, this.#status)
    input.addEventListener('input', () => this.#ask())
    input.addEventListener('keydown', (event) => this.#press(event))
    // A click on a result takes the focus before it is a click.
    this.#list.addEventListener('pointerdown', (event) => event.preventDefault())
    input.addEventListener('blur', () => this.#close())
  }

  #ask(): void {
    this.#stop()
    const text = this.#input.value.trim()
    if (text === '') this.#show([], '')
    else this.#timer = setTimeout(() => void this.#search(text), pauseMs)
  }

  async #search(text: string): Promise<void> {
    const request = new AbortController()
    this.#request = request
    const { lng, lat } = this.#map.gl.getCenter().wrap()
    // Far out everything is near.
    const near = this.#map.gl.getZoom() > 4 ? ([lng, lat] as const) : undefined
    const { limit = 6 } = this.#options
    try {
      const { signal } = request
      const found = await this.#map.client.places.search(text, { limit, signal, ...(near && { near }) })
      if (!signal.aborted) this.#show(found.places, found.attribution)
    } catch {
      if (!request.signal.aborted) this.#show([], '', 'The search failed. Try again.')
    }
  }

  #stop(): void {
    clearTimeout(this.#timer)
    this.#request?.abort()
  }

  #show(places: readonly FoundPlace[], attribution: string, problem?: string): void {
    this.#places = places
    this.#active = -1
    const rows = places.map((place, index) => this.#row(place, index))
    this.#list.replaceChildren(...rows)
    const isAsked = this.#input.value.trim() !== ''
    const note = problem ?? (places.length === 0 ? 'No place has this name.' : attribution)
    if (isAsked) this.#list.append(noteRow(note))
    this.#list.hidden = !isAsked
    this.#input.setAttribute('aria-expanded', String(isAsked && places.length > 0))
    this.#mark(-1)
    this.#status.textContent = isAsked ? (problem ?? counted(places.length)) : ''
  }

  #row(place: FoundPlace, index: number): HTMLElement {
    const row = document.createElement('li')
    attributes(row, { id: `${this.#id}-${index}`, role: 'option', 'aria-selected': 'false' })
    Object.assign(row.style, styles.row)
    const name = row.appendChild(document.createElement('span'))
    name.textContent = place.matched ? `${place.matched} (${place.name})` : place.name
    const rest = row.appendChild(document.createElement('small'))
    rest.textContent = place.kind === 'country' ? 'Country' : (place.countryName ?? '')
    Object.assign(rest.style, { opacity: '0.75' })
    row.addEventListener('click', () => this.#choose(index))
    return row
  }

  #press(event: KeyboardEvent): void {
    const { length } = this.#places
    const isOpen = !this.#list.hidden && length > 0
    if (event.key === 'Escape') {
      if (!this.#list.hidden) this.#close()
      else {
        this.#input.value = ''
        this.#marker?.remove()
      }
    } else if (isOpen && event.key === 'ArrowDown') this.#mark((this.#active + 1) % length)
    else if (isOpen && event.key === 'ArrowUp') this.#mark((Math.max(this.#active, 0) + length - 1) % length)
    else if (isOpen && event.key === 'Enter') this.#choose(Math.max(this.#active, 0))
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  #mark(index: number): void {
    this.#active = index
    for (const [at, row] of [...this.#list.querySelectorAll<HTMLElement>('[role=option]')].entries()) {
      row.setAttribute('aria-selected', String(at === index))
      row.style.background = at === index ? 'color-mix(in srgb, currentColor 14%, transparent)' : ''
      if (at === index) row.scrollIntoView({ block: 'nearest' })
    }
    if (index < 0) this.#input.removeAttribute('aria-activedescendant')
    else this.#input.setAttribute('aria-activedescendant', `${this.#id}-${index}`)
  }

  #choose(index: number): void {
    const place = this.#places[index]
    if (!place) return
    this.#stop()
    this.#input.value = place.matched ?? place.name
    this.#close()
    this.#status.textContent = `${place.name} is shown.`
    const box = place.bounds ?? ([...place.position, ...place.position] as [number, number, number, number])
    const { maxZoom = place.zoom } = this.#map.fitOptions(box)
    this.#map.fit(box, place.bounds ? {} : { maxZoom: Math.min(maxZoom, place.zoom) })
    this.#marker?.remove()
    // The middle of a country is no place to mark.
    if (place.kind === 'city' || place.kind === 'address')
      this.#marker = new Marker().setLngLat([...place.position]).addTo(this.#map.gl)
    this.#options.onChoose?.(place)
  }

  #close(): void {
    this.#stop()
    this.#list.hidden = true
    this.#input.setAttribute('aria-expanded', 'false')
    this.#mark(-1)
  }
}

const counted = (count: number): string =>
  count === 0 ? 'No place has this name.' : count === 1 ? '1 place found.' : `${count} places found.`

function noteRow(text: string): HTMLElement {
  const row = document.createElement('li')
  row.setAttribute('role', 'presentation')
  row.textContent = text
  Object.assign(row.style, { padding: '4px 10px', fontSize: '11px', opacity: '0.75' })
  return row
}

function attributes(element: HTMLElement, values: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(values)) element.setAttribute(name, value)
}

const styles = {
  input: {
    boxSizing: 'border-box',
    width: '100%',
    height: '32px',
    padding: '0 10px',
    border: '0',
    borderRadius: '4px',
    background: 'transparent',
    color: 'inherit',
    font: 'inherit',
  },
  list: { listStyle: 'none', margin: '0', padding: '4px 0', maxHeight: '50vh', overflowY: 'auto' },
  row: { display: 'flex', justifyContent: 'space-between', gap: '12px', padding: '6px 10px', cursor: 'pointer' },
  hidden: { position: 'absolute', width: '1px', height: '1px', overflow: 'hidden', clipPath: 'inset(50%)' },
} as const satisfies Readonly<Record<string, Partial<CSSStyleDeclaration>>>
