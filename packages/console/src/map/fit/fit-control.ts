/** A button of a map that shows all of its data. */
import type { GraticuleMap } from '@graticule/map'
import type { IControl } from 'maplibre-gl'
import { icons } from '../../components/icons.ts'

export type LngLatBox = readonly [west: number, south: number, east: number, north: number]

export const fitPadding = 32
const flightMs = 800

export function fitTo(map: GraticuleMap, bounds: LngLatBox, isAnimated: boolean): void {
  map.fit([...bounds], { padding: fitPadding, ...(isAnimated ? { duration: flightMs } : { animate: false }) })
}

export class FitControl implements IControl {
  readonly #map: GraticuleMap
  readonly #bounds: () => LngLatBox | undefined
  readonly #isAnimated: () => boolean
  #box: HTMLElement | undefined

  constructor(map: GraticuleMap, bounds: () => LngLatBox | undefined, isAnimated: () => boolean) {
    this.#map = map
    this.#bounds = bounds
    this.#isAnimated = isAnimated
  }

  onAdd(): HTMLElement {
    const box = document.createElement('div')
    box.className = 'maplibregl-ctrl maplibregl-ctrl-group'
    const button = box.appendChild(document.createElement('button'))
    button.type = 'button'
    button.title = 'Fit to data'
    button.setAttribute('aria-label', button.title)
    button.append(iconNode())
    button.addEventListener('click', () => {
      const bounds = this.#bounds()
      if (bounds) fitTo(this.#map, bounds, this.#isAnimated())
    })
    this.#box = box
    this.show()
    return box
  }

  /** Hidden while there is nothing to fit to. */
  show(): void {
    if (this.#box) this.#box.hidden = this.#bounds() === undefined
  }

  onRemove(): void {
    this.#box?.remove()
  }
}

function iconNode(): SVGElement {
  const space = 'http://www.w3.org/2000/svg'
  const svg = document.createElementNS(space, 'svg')
  svg.setAttribute('aria-hidden', 'true')
  svg.setAttribute('class', 'fit-icon')
  svg.setAttribute('viewBox', '0 0 24 24')
  for (const d of icons.fit) {
    const path = svg.appendChild(document.createElementNS(space, 'path'))
    path.setAttribute('d', d)
  }
  return svg
}
