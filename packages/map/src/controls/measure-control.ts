/// <reference lib="dom" />
/** Measures on a map: clicks make a line, whose length is told, and the area that it would close. */
import type { ControlPosition, GeoJSONSource, IControl, MapMouseEvent } from 'maplibre-gl'
import type { GraticuleMap } from '../graticule-map.ts'
import { controlColours } from './control-colours.ts'
import { areaOf, areaText, lengthOf, lengthText } from './measure.ts'

export interface MeasureOptions {
  /** @defaultValue `top-right` */
  position?: ControlPosition
  /** Of numbers. @defaultValue the reader's */
  locale?: string
}

type Position = [number, number]

const source = 'graticule-measured'
const colours = { light: '#b3380f', dark: '#ff8a5c' }

export class MeasureControl implements IControl {
  readonly #map: GraticuleMap
  readonly #locale: string | undefined
  readonly #box = document.createElement('div')
  readonly #button = document.createElement('button')
  readonly #told = document.createElement('output')
  #positions: Position[] = []
  readonly #click = (event: MapMouseEvent) => this.#add(event)
  readonly #press = (event: KeyboardEvent) => this.#pressed(event)
  readonly #restyle = () => this.#draw()

  constructor(map: GraticuleMap, { locale }: MeasureOptions = {}) {
    this.#map = map
    this.#locale = locale
    this.#box.className = 'maplibregl-ctrl maplibregl-ctrl-group graticule-measure'
    Object.assign(this.#box.style, { display: 'flex', flexDirection: 'row-reverse', alignItems: 'center' })
    const button = this.#button
    button.type = 'button'
    button.title = 'Measure'
    button.setAttribute('aria-label', 'Measure distances and areas')
    button.setAttribute('aria-pressed', 'false')
    button.append(ruler())
    button.addEventListener('click', () => (map.isMeasuring ? this.end() : this.begin()))
    Object.assign(this.#told.style, { padding: '0 10px', font: '12px/1.5 system-ui, sans-serif' })
    this.#told.hidden = true
    this.#box.append(button, this.#told)
  }

  onAdd(): HTMLElement {
    this.#map.gl.on('style.load', this.#restyle)
    return this.#box
  }

  onRemove(): void {
    this.end()
    this.#map.gl.off('style.load', this.#restyle)
    this.#box.remove()
  }

  begin(): void {
    const { gl } = this.#map
    this.#map.isMeasuring = true
    gl.on('click', this.#click)
    gl.doubleClickZoom.disable()
    gl.getCanvas().style.cursor = 'crosshair'
    document.addEventListener('keydown', this.#press)
    this.#button.setAttribute('aria-pressed', 'true')
    this.#draw()
  }

  end(): void {
    const { gl } = this.#map
    if (!this.#map.isMeasuring) return
    this.#map.isMeasuring = false
    gl.off('click', this.#click)
    gl.doubleClickZoom.enable()
    gl.getCanvas().style.cursor = ''
    document.removeEventListener('keydown', this.#press)
    this.#button.setAttribute('aria-pressed', 'false')
    this.#positions = []
    this.#draw()
  }

  #add({ lngLat: { lng, lat } }: MapMouseEvent): void {
    this.#positions = [...this.#positions, [lng, lat]]
    this.#draw()
  }

  #pressed({ key }: KeyboardEvent): void {
    if (key === 'Escape') this.end()
    if (key !== 'Backspace') return
    this.#positions = this.#positions.slice(0, -1)
    this.#draw()
  }

  #draw(): void {
    const isOn = this.#map.isMeasuring
    this.#told.hidden = !isOn
    this.#told.textContent = this.#text()
    this.#map.whenStyled((_, theme) => {
      Object.assign(this.#box.style, controlColours[theme])
      if (!isOn) return this.#clear()
      this.#layers(colours[theme])
      void this.#map.gl.getSource<GeoJSONSource>(source)?.setData(featuresOf(this.#positions) as never)
    })
  }

  #text(): string {
    const [first, second, third] = this.#positions
    if (!first || !second) return first ? 'Click the next point' : 'Click the first point'
    const length = lengthText(lengthOf(this.#positions), this.#locale)
    return third ? `${length} · ${areaText(areaOf(this.#positions), this.#locale)}` : length
  }

  #layers(colour: string): void {
    const { gl } = this.#map
    if (gl.getSource(source)) return
    gl.addSource(source, { type: 'geojson', data: featuresOf([]) as never })
    const layers = [
      {
        id: `${source}-area`,
        type: 'fill',
        filter: isA('Polygon'),
        paint: { 'fill-color': colour, 'fill-opacity': 0.12 },
      },
      {
        id: `${source}-line`,
        type: 'line',
        filter: isA('LineString'),
        paint: { 'line-color': colour, 'line-width': 2 },
      },
      {
        id: `${source}-point`,
        type: 'circle',
        filter: isA('Point'),
        paint: { 'circle-color': colour, 'circle-radius': 4 },
      },
    ]
    for (const layer of layers) gl.addLayer({ ...layer, source } as never)
  }

  #clear(): void {
    const { gl } = this.#map
    if (!gl.getSource(source)) return
    for (const part of ['area', 'line', 'point']) gl.removeLayer(`${source}-${part}`)
    gl.removeSource(source)
  }
}

const isA = (type: string) => ['==', ['geometry-type'], type]

function featuresOf(positions: readonly Position[]) {
  const geometries = [
    ...(positions.length > 2 ? [{ type: 'Polygon', coordinates: [[...positions, positions[0]]] }] : []),
    ...(positions.length > 1 ? [{ type: 'LineString', coordinates: positions }] : []),
    ...positions.map((coordinates) => ({ type: 'Point', coordinates })),
  ]
  return {
    type: 'FeatureCollection',
    features: geometries.map((geometry) => ({ type: 'Feature', properties: {}, geometry })),
  }
}

/** Drawn here, because MapLibre has no sign for it. */
function ruler(): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  Object.assign(svg.style, { width: '19px', height: '19px', display: 'block', margin: 'auto' })
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path')
  path.setAttribute('d', 'M3 16 16 3l5 5L8 21zM7 12l2 2M10 9l3 3M13 6l2 2')
  path.setAttribute('fill', 'none')
  path.setAttribute('stroke', 'currentColor')
  path.setAttribute('stroke-width', '1.8')
  svg.append(path)
  return svg
}
