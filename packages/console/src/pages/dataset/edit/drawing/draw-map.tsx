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
import {
  type DrawnPart,
  drawnHints,
  drawnKinds,
  drawnLabels,
  geometryOfParts,
  partsOf,
  takesSeveral,
} from './drawn-geometry.ts'
import { type Drawing, type DrawMode, drawOn } from './terra-drawing.ts'

export interface DrawMapProps {
  attribute: DatasetAttribute
  /** Null: nothing is drawn yet. */
  geometry: object | null
  onDraw(geometry: object | null): void
}

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
            ...kinds.map((kind) => ({ value: kind, label: drawnLabels[kind] })),
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
  ...drawnHints,
  move: 'Click a part, then drag it or its corners; the points between corners make new ones, a right click removes one.',
}

const featuresOf = (geometry: object | null) =>
  ({ type: 'FeatureCollection', features: geometry ? [{ type: 'Feature', properties: {}, geometry }] : [] }) as never

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
    const onChange = (parts: DrawnPart[]) => take(geometryOfParts(parts, attribute))
    const stop = drawOn(map.gl, { theme, takesSeveral: several, onChange }, setDrawing)
    return () => {
      setDrawing(null)
      stop()
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
