/** A map on which the parts of a geometry are drawn, moved and removed. */
import type { GraticuleMap } from '@graticule/map'
import { type ReactElement, useEffect, useEffectEvent, useState } from 'react'
import { Button } from '../../../../components/button.tsx'
import { Segmented } from '../../../../components/field.tsx'
import { MapView } from '../../../../map/map-view.tsx'
import { useTheme } from '../../../../theme.ts'
import type { DatasetAttribute } from '../../dataset.ts'
import { boundsOf } from '../../table/map/feature-bounds.ts'
import classes from '../edit.module.css'
import { useRowsBounds } from '../point-map.tsx'
import { type DrawnKind, drawnKinds, geometryOfParts, partsOf, takesSeveral } from './drawn-geometry.ts'
import { type Drawing, type DrawMode, startDrawing } from './terra-drawing.ts'

export interface DrawMapProps {
  attribute: DatasetAttribute
  /** Null: nothing is drawn yet. */
  geometry: object | null
  onDraw(geometry: object | null): void
}

const labels: Record<DrawnKind, string> = { Point: 'Point', LineString: 'Line', Polygon: 'Area' }

export function DrawMap({ attribute, geometry, onDraw }: DrawMapProps): ReactElement {
  const kinds = drawnKinds(attribute)
  const [first] = useState(() => boundsOf(featuresOf(geometry)))
  const [mode, setMode] = useState<DrawMode>(geometry ? 'move' : (kinds[0] ?? 'move'))
  const [map, setMap] = useState<GraticuleMap | null>(null)
  const rows = useRowsBounds()
  const drawing = useDrawing(map, { attribute, geometry, onDraw }, mode)
  const begins = first ?? rows
  const { name } = attribute
  return (
    <>
      <div className={classes.draw}>
        <Segmented<DrawMode>
          label={`Draw ${name}`}
          value={mode}
          options={[
            ...kinds.map((kind) => ({ value: kind, label: labels[kind] })),
            { value: 'move', label: 'Move', isDisabled: geometry === null },
          ]}
          onChange={setMode}
        />
        <Button
          icon="trash"
          disabledReason={geometry === null ? 'Nothing is drawn yet.' : undefined}
          onClick={() => drawing?.removeSelected() || onDraw(null)}
        >
          Remove
        </Button>
      </div>
      <p className={classes.hint}>{hints[mode]}</p>
      <div className={classes.map} data-picks={mode !== 'move'} aria-busy={drawing === null}>
        {begins !== undefined && <MapView label={`Map for ${name}`} bounds={begins ?? undefined} onReady={setMap} />}
      </div>
    </>
  )
}

const hints: Record<DrawMode, string> = {
  Point: 'Click where the point is.',
  LineString: 'Click from corner to corner; a second click on the last corner, or Enter, ends the line. Esc gives up.',
  Polygon: 'Click from corner to corner; a click on the first corner, or Enter, closes the area. Esc gives up.',
  move: 'Click a part, then drag it or its corners; the points between corners make new ones, a right click removes one.',
}

const featuresOf = (geometry: object | null) =>
  ({ type: 'FeatureCollection', features: geometry ? [{ type: 'Feature', properties: {}, geometry }] : [] }) as never

/** The select colour of the tokens: a canvas knows no custom properties. */
const colours = { light: '#b3380f', dark: '#ff8a5c' } as const

function useDrawing(map: GraticuleMap | null, props: DrawMapProps, mode: DrawMode): Drawing | null {
  const { attribute, geometry, onDraw } = props
  const theme = useTheme()
  const [drawing, setDrawing] = useState<Drawing | null>(null)
  const [drawn, setDrawn] = useState<object | null>(null)
  const take = useEffectEvent((made: object | null) => {
    setDrawn(made)
    onDraw(made)
  })
  const several = takesSeveral(attribute)
  useEffect(() => {
    if (!map) return
    const onChange = (parts: Parameters<typeof geometryOfParts>[0]) => take(geometryOfParts(parts, attribute))
    let started: Drawing | undefined
    const start = () => {
      started = startDrawing(map.gl, { colour: colours[theme], takesSeveral: several, onChange })
      setDrawing(started)
    }
    // Layers cannot be added while the style is being loaded.
    if (map.gl.isStyleLoaded()) start()
    else map.gl.once('idle', start)
    return () => {
      map.gl.off('idle', start)
      setDrawing(null)
      started?.stop()
    }
  }, [map, theme, several, attribute])
  const isOther = JSON.stringify(geometry) !== JSON.stringify(drawn)
  useEffect(() => {
    // What was typed, or removed, and not drawn here.
    if (isOther || geometry === null) drawing?.show(partsOf(geometry) ?? [])
  }, [drawing, geometry, isOther])
  useEffect(() => drawing?.setMode(mode), [drawing, mode])
  return drawing
}
