/**
 * The neat line: a frame around the map with degree ticks, as on paper maps. Written directly into an SVG element on each
 * move, at most once per animation frame, because a React render would cost more than the drawing.
 */
import { useMap } from '@graticule/map/react'
import type { Map as MapLibreMap } from 'maplibre-gl'
import { type ReactElement, useEffect, useRef } from 'react'
import { type FrameView, latitudeSide, longitudeSide, type Tick } from './frame-ticks.ts'
import classes from './map-frame.module.css'

/** The distances of the frame's two lines from the map, in pixels. */
const inner = 1
const outer = 5
const labelGap = 9
/** The minimum distance of a label from a corner. */
const cornerPixels = 20

export function NeatLine(): ReactElement {
  const { gl } = useMap()
  const svg = useRef<SVGSVGElement>(null)
  useEffect(() => {
    const element = svg.current
    return element ? follow(gl, element) : undefined
  }, [gl])
  return (
    <svg ref={svg} aria-hidden="true" className={classes.neatLine}>
      <path className={classes.segments} />
      <path className={classes.ticks} />
      <g className={classes.labels} />
    </svg>
  )
}

function follow(gl: MapLibreMap, svg: SVGSVGElement): () => void {
  let frame = 0
  const draw = () => {
    frame = 0
    drawNeatLine(gl, svg)
  }
  const schedule = () => {
    if (frame === 0) frame = requestAnimationFrame(draw)
  }
  const events = ['move', 'resize', 'style.load'] as const
  for (const name of events) gl.on(name, schedule)
  schedule()
  return () => {
    for (const name of events) gl.off(name, schedule)
    cancelAnimationFrame(frame)
  }
}

function drawNeatLine(gl: MapLibreMap, svg: SVGSVGElement): void {
  const [segments, ticks, labels] = svg.children
  if (!segments || !ticks || !labels) return
  // Ticks make sense only if north is up and the map is flat.
  const isPlain = gl.getBearing() === 0 && gl.getPitch() === 0 && gl.getProjection()?.type !== 'globe'
  svg.toggleAttribute('data-plain', isPlain)
  svg.parentElement?.toggleAttribute('data-rotated', gl.getBearing() !== 0 || gl.getPitch() !== 0)
  const view = isPlain ? viewOf(gl) : undefined
  if (!view) {
    segments.setAttribute('d', '')
    ticks.setAttribute('d', '')
    labels.replaceChildren()
    return
  }
  const across = longitudeSide(view)
  const along = latitudeSide(view)
  segments.setAttribute('d', segmentPath(view, across.segments, along.segments))
  ticks.setAttribute('d', tickPath(across.ticks, along.ticks))
  writeLabels(labels, view, across.ticks, along.ticks)
}

function viewOf(gl: MapLibreMap): FrameView | undefined {
  const { clientWidth: width, clientHeight: height } = gl.getContainer()
  if (width === 0 || height === 0) return undefined
  const bounds = gl.getBounds()
  return {
    west: bounds.getWest(),
    south: bounds.getSouth(),
    east: bounds.getEast(),
    north: bounds.getNorth(),
    width,
    height,
  }
}

type Segments = readonly (readonly [from: number, to: number])[]

/** The dark segments between the two lines, on all four sides. */
function segmentPath({ width, height }: FrameView, across: Segments, along: Segments): string {
  const horizontal = (y: number) => across.map(([from, to]) => box(from, y, to - from, outer - inner))
  const vertical = (x: number) => along.map(([from, to]) => box(x, from, outer - inner, to - from))
  return [...horizontal(-outer), ...horizontal(height + inner), ...vertical(-outer), ...vertical(width + inner)].join(
    '',
  )
}

const box = (x: number, y: number, width: number, height: number): string =>
  `M${fixed(x)} ${fixed(y)}h${fixed(width)}v${fixed(height)}h${fixed(-width)}z`

/** The ticks, at the top and the left, where the labels are. */
const tickPath = (across: readonly Tick[], along: readonly Tick[]): string =>
  [
    ...across.map(({ at }) => `M${fixed(at)} ${-outer}v-4`),
    ...along.map(({ at }) => `M${-outer} ${fixed(at)}h-4`),
  ].join('')

const fixed = (value: number): string => value.toFixed(1)

function writeLabels(
  group: Element,
  { width, height }: FrameView,
  across: readonly Tick[],
  along: readonly Tick[],
): void {
  const isAway = (length: number) => (tick: Tick) => tick.at > cornerPixels && tick.at < length - cornerPixels
  const places = [
    ...across
      .filter(isAway(width))
      .map(({ at, label }) => ({ label, to: `translate(${fixed(at)} ${-outer - labelGap})` })),
    ...along
      .filter(isAway(height))
      .map(({ at, label }) => ({ label, to: `translate(${-outer - labelGap} ${fixed(at)}) rotate(-90)` })),
  ]
  while (group.childElementCount > places.length) group.lastElementChild?.remove()
  for (const [index, { label, to }] of places.entries()) {
    const text = group.children[index] ?? group.appendChild(document.createElementNS(group.namespaceURI, 'text'))
    if (text.textContent !== label) text.textContent = label
    text.setAttribute('transform', to)
  }
}
