/** Terra Draw on a MapLibre map: parts of a geometry are drawn, moved and removed. Loaded only where something is drawn. */
import type { Map as MapLibre } from 'maplibre-gl'
import {
  TerraDraw,
  TerraDrawLineStringMode,
  TerraDrawPointMode,
  TerraDrawPolygonMode,
  TerraDrawSelectMode,
} from 'terra-draw'
import { TerraDrawMapLibreGLAdapter } from 'terra-draw-maplibre-gl-adapter'
import type { DrawnKind, DrawnPart } from './drawn-geometry.ts'

export type DrawMode = 'move' | DrawnKind

const modeNames = { move: 'select', Point: 'point', LineString: 'linestring', Polygon: 'polygon' } as const

export interface Drawing {
  setMode(mode: DrawMode): void
  /** Replaces what is drawn. */
  show(parts: readonly DrawnPart[]): void
  /** Removes the selected part; false if none is. */
  removeSelected(): boolean
  stop(): void
}

export interface DrawingOptions {
  theme: 'light' | 'dark'
  /** Whether a part that is drawn joins the others, or replaces them. */
  takesSeveral: boolean
  onChange(parts: DrawnPart[]): void
}

/** The select colour of the tokens: a canvas knows no custom properties. */
const colours = { light: '#b3380f', dark: '#ff8a5c' } as const

/** Starts when layers can be added, which is not while the style is being loaded. What it returns ends it. */
export function drawOn(map: MapLibre, options: DrawingOptions, onStart: (drawing: Drawing) => void): () => void {
  let started: Drawing | undefined
  const start = () => {
    started = startDrawing(map, options)
    onStart(started)
  }
  if (map.isStyleLoaded()) start()
  else map.once('idle', start)
  return () => {
    map.off('idle', start)
    started?.stop()
  }
}

function startDrawing(map: MapLibre, { theme, takesSeveral, onChange }: DrawingOptions): Drawing {
  const draw = new TerraDraw({ adapter: new TerraDrawMapLibreGLAdapter({ map }), modes: modesOf(colours[theme]) })
  draw.start()
  let selected: string | number | undefined
  // A map that was removed, as by a change of the theme, has taken its layers along.
  let isRemoved = false
  map.once('remove', () => {
    isRemoved = true
  })
  const tell = () => onChange(partsIn(draw))
  draw.on('select', (id) => {
    selected = id
  })
  draw.on('deselect', () => {
    selected = undefined
  })
  draw.on('finish', (id, { action }) => {
    if (action === 'draw' && !takesSeveral) draw.removeFeatures(idsIn(draw).filter((other) => other !== id))
    tell()
  })
  return {
    setMode: (mode) => draw.setMode(modeNames[mode]),
    show(parts) {
      draw.clear()
      draw.addFeatures(parts.map(featureOf))
    },
    removeSelected() {
      if (selected === undefined) return false
      draw.removeFeatures([selected])
      selected = undefined
      tell()
      return true
    },
    stop() {
      if (!isRemoved) draw.stop()
    },
  }
}

const featureOf = ({ type, coordinates }: DrawnPart) => ({
  type: 'Feature' as const,
  properties: { mode: modeNames[type] },
  geometry: { type, coordinates } as never,
})

/** Without the points that help to draw. */
const drawnIn = (draw: TerraDraw) =>
  draw.getSnapshot().filter(({ geometry, properties }) => properties.mode === modeNames[geometry.type as DrawnKind])

const idsIn = (draw: TerraDraw) => drawnIn(draw).flatMap(({ id }) => (id === undefined ? [] : [id]))

const partsIn = (draw: TerraDraw): DrawnPart[] =>
  drawnIn(draw).map(({ geometry }) => ({ type: geometry.type as DrawnKind, coordinates: geometry.coordinates }))

const movable = { feature: { draggable: true, coordinates: { midpoints: true, draggable: true, deletable: true } } }

const modesOf = (colour: `#${string}`) => [
  new TerraDrawSelectMode({
    flags: { point: { feature: { draggable: true } }, linestring: movable, polygon: movable },
    styles: {
      selectedPointColor: colour,
      selectedLineStringColor: colour,
      selectedPolygonColor: colour,
      selectedPolygonOutlineColor: colour,
      selectionPointColor: colour,
      midPointColor: colour,
    },
  }),
  new TerraDrawPointMode({ styles: { pointColor: colour } }),
  new TerraDrawLineStringMode({ styles: { lineStringColor: colour, closingPointColor: colour } }),
  new TerraDrawPolygonMode({ styles: { fillColor: colour, outlineColor: colour, closingPointColor: colour } }),
]
