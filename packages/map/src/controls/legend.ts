/// <reference lib="dom" />
/** The legend of a map: a control that explains the looks of its data sources, and follows them. */
import type { ControlPosition, IControl } from 'maplibre-gl'
import type { GraticuleMap } from '../graticule-map.ts'
import type { RecipeLegend, RecipeLegendItem } from '../recipe/legend-items.ts'
import { controlColours } from './control-colours.ts'

export interface LegendOptions {
  /** @defaultValue `top-left` */
  position?: ControlPosition
  /** Of numbers and dates. @defaultValue the reader's */
  locale?: string
}

export class Legend implements IControl {
  readonly #map: GraticuleMap
  readonly #locale: string | undefined
  readonly #box: HTMLElement
  readonly #update = () => this.#render()

  constructor(map: GraticuleMap, { locale }: LegendOptions = {}) {
    this.#map = map
    this.#locale = locale
    this.#box = document.createElement('section')
    this.#box.className = 'maplibregl-ctrl maplibregl-ctrl-group graticule-legend'
    this.#box.setAttribute('aria-label', 'Legend')
  }

  onAdd(): HTMLElement {
    this.#map.addEventListener('legendchange', this.#update)
    this.#render()
    return this.#box
  }

  onRemove(): void {
    this.#map.removeEventListener('legendchange', this.#update)
    this.#box.remove()
  }

  #render(): void {
    this.#map.whenStyled((_, theme) => {
      const legends = this.#map.legends(this.#locale)
      this.#box.replaceChildren(...legends.map((legend) => legendNode(legend)))
      this.#box.hidden = legends.length === 0
      Object.assign(this.#box.style, boxStyle, controlColours[theme])
    })
  }
}

const boxStyle: Partial<CSSStyleDeclaration> = {
  padding: '8px 12px',
  maxWidth: '16rem',
  maxHeight: '50vh',
  overflow: 'auto',
  font: '12px/1.5 system-ui, sans-serif',
}

function legendNode({ title, items }: RecipeLegend): HTMLElement {
  const box = document.createElement('div')
  // One thing in one colour says its name already.
  const isNamed = items.length === 1 && items[0]?.label === title
  if (!isNamed) box.appendChild(document.createElement('strong')).textContent = title
  const list = box.appendChild(document.createElement('ul'))
  Object.assign(list.style, { listStyle: 'none', margin: '2px 0 0', padding: '0' })
  for (const item of items) {
    const row = list.appendChild(document.createElement('li'))
    Object.assign(row.style, { display: 'flex', alignItems: 'center', gap: '8px' })
    const label = document.createElement('span')
    label.textContent = item.label
    row.append(swatch(item), label)
  }
  return box
}

function swatch({ colour, shape, size }: RecipeLegendItem): HTMLElement {
  const sign = document.createElement('span')
  sign.setAttribute('aria-hidden', 'true')
  const height = shape === 'line' ? (size ?? 3) : (size ?? 12)
  const width = shape === 'point' ? height : 18
  const radius = shape === 'point' ? '50%' : '2px'
  Object.assign(sign.style, {
    background: colour,
    height: `${height}px`,
    width: `${width}px`,
    borderRadius: radius,
    flex: 'none',
  })
  return sign
}
