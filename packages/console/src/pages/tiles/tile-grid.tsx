/**
 * The tile grid over the map: coordinates and sizes of the visible tiles. Not MapLibre's tile boundaries, because they show
 * only the size of the first source.
 */
import { useMap } from '@graticule/map/react'
import type { Map as MapLibreMap, MapMouseEvent } from 'maplibre-gl'
import { type ReactElement, useEffect, useEffectEvent, useRef } from 'react'
import { formatBytes } from '../../format.ts'
import type { LegendItem } from '../../map/legend.tsx'
import {
  type PlacedTile,
  type TileAddress,
  tileAt,
  tileBounds,
  tileKey,
  tilesInView,
  tileZoom,
  type Zooms,
} from './tile-pyramid.ts'
import type { TileMeasure, TileRecorder } from './tile-recorder.ts'
import classes from './tiles.module.css'

export interface TileGridProps {
  zooms: Zooms
  recorder: TileRecorder
  selected: TileAddress | undefined
  onSelect(tile: TileAddress): void
  /** Called with the visible tiles when the map is idle. */
  onView(tiles: readonly TileAddress[]): void
}

export function TileGrid({ zooms, recorder, selected, onSelect, onView }: TileGridProps): ReactElement {
  const { gl } = useMap()
  const svg = useRef<SVGSVGElement>(null)
  const { minZoom, maxZoom, tileSize } = zooms
  const chosen = selected && tileKey(selected)
  const draw = useEffectEvent(() => {
    if (svg.current) drawGrid(gl, svg.current, { zooms, recorder, chosen })
  })
  const select = useEffectEvent(({ lngLat }: MapMouseEvent) => {
    const z = tileZoom(gl.getZoom(), zooms)
    if (z !== undefined) onSelect(tileAt(lngLat.lng, lngLat.lat, z))
  })
  const tell = useEffectEvent(() => onView(viewTiles(gl, zooms)))
  useEffect(() => {
    let frame = 0
    const schedule = () => {
      if (frame !== 0) return
      frame = requestAnimationFrame(() => {
        frame = 0
        draw()
      })
    }
    const onClick = (event: MapMouseEvent) => select(event)
    const onEnd = () => tell()
    gl.on('move', schedule)
    gl.on('resize', schedule)
    gl.on('moveend', onEnd)
    gl.on('click', onClick)
    const stop = recorder.subscribe(schedule)
    onEnd()
    return () => {
      gl.off('move', schedule)
      gl.off('resize', schedule)
      gl.off('moveend', onEnd)
      gl.off('click', onClick)
      cancelAnimationFrame(frame)
      stop()
    }
  }, [gl, recorder])
  useEffect(() => {
    draw()
    tell()
  }, [minZoom, maxZoom, tileSize, chosen])
  return <svg ref={svg} aria-hidden="true" className={classes.grid} />
}

function viewTiles(gl: MapLibreMap, zooms: Zooms): PlacedTile[] {
  const z = tileZoom(gl.getZoom(), zooms)
  if (z === undefined) return []
  const bounds = gl.getBounds()
  const view = { west: bounds.getWest(), south: bounds.getSouth(), east: bounds.getEast(), north: bounds.getNorth() }
  return tilesInView(view, z)
}

interface Drawing {
  zooms: Zooms
  recorder: TileRecorder
  chosen: string | undefined
}

/** Smaller tiles have no space for a label. */
const minLabelPixels = 72

function drawGrid(gl: MapLibreMap, svg: SVGSVGElement, { zooms, recorder, chosen }: Drawing): void {
  const tiles = viewTiles(gl, zooms)
  while (svg.childElementCount > tiles.length) svg.lastElementChild?.remove()
  for (const [index, tile] of tiles.entries()) {
    const cell = svg.children[index] ?? svg.appendChild(newCell())
    const measure = recorder.get(tileKey(tile))
    writeCell(cell, cornersOf(gl, tile), tile, measure)
    cell.setAttribute('class', [classes.cell, classes[classOf(measure)]].join(' '))
    cell.toggleAttribute('data-selected', tileKey(tile) === chosen)
  }
}

function newCell(): SVGElement {
  const make = (name: string) => document.createElementNS('http://www.w3.org/2000/svg', name)
  const cell = make('g')
  cell.append(make('path'), make('text'), make('text'))
  return cell
}

type Corner = { x: number; y: number }

/** Clockwise from the north-west; not a rectangle if the map is rotated. */
function cornersOf(gl: MapLibreMap, tile: PlacedTile): [Corner, Corner, Corner, Corner] {
  const [west, south, east, north] = tileBounds(tile, tile.copy)
  return [gl.project([west, north]), gl.project([east, north]), gl.project([east, south]), gl.project([west, south])]
}

function writeCell(
  cell: Element,
  corners: readonly [Corner, Corner, Corner, Corner],
  tile: PlacedTile,
  measure: TileMeasure | undefined,
): void {
  const [path, address, size] = cell.children
  const points = corners.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`)
  path?.setAttribute('d', `M${points.join('L')}Z`)
  const [corner, next] = corners
  const hasRoom = Math.hypot(next.x - corner.x, next.y - corner.y) > minLabelPixels
  const texts = hasRoom ? [tileKey(tile), measureText(measure)] : ['', '']
  for (const [index, element] of [address, size].entries()) {
    if (!element) continue
    element.textContent = texts[index] ?? ''
    // Moves the label of a partly visible tile into the view.
    element.setAttribute('x', String(Math.max(corner.x, 0) + 8))
    element.setAttribute('y', String(Math.max(corner.y, 0) + 18 + index * 16))
  }
}

function measureText(measure: TileMeasure | undefined): string {
  if (!measure) return ''
  return measure.bytes === 0 ? 'empty' : formatBytes(measure.sentBytes)
}

const limits = { small: 50_000, middle: 250_000 }
type SizeClass = 'unknown' | 'small' | 'middle' | 'large'

function classOf(measure: TileMeasure | undefined): SizeClass {
  if (!measure || measure.bytes === 0) return 'unknown'
  if (measure.sentBytes <= limits.small) return 'small'
  return measure.sentBytes <= limits.middle ? 'middle' : 'large'
}

/** The legend of the grid's colours. */
export const gridLegend: LegendItem[] = [
  { colour: 'var(--ok)', label: `≤ ${formatBytes(limits.small)}`, shape: 'area' },
  { colour: 'var(--warn)', label: `≤ ${formatBytes(limits.middle)}`, shape: 'area' },
  { colour: 'var(--danger)', label: `> ${formatBytes(limits.middle)}`, shape: 'area' },
]
