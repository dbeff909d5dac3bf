/** On the map beside the table: draws where a new row is. The sheet of the row then asks for the rest. */
import type { Dataset } from '@graticule/client'
import type { GraticuleMap } from '@graticule/map'
import { type ReactElement, useEffect, useEffectEvent, useState } from 'react'
import { Button } from '../../../../components/button.tsx'
import { Segmented } from '../../../../components/field.tsx'
import { useTheme } from '../../../../theme.ts'
import type { DatasetAttribute } from '../../dataset.ts'
import classes from '../edit.module.css'
import { useOfferedEditing } from '../row-editing.tsx'
import {
  type DrawnKind,
  drawnAttribute,
  drawnHints,
  drawnKinds,
  drawnLabels,
  geometryOfParts,
} from './drawn-geometry.ts'

export interface DrawOnMapProps {
  map: GraticuleMap | null
  dataset: Dataset
  /** What is being drawn. */
  kind: DrawnKind | null
  onKind(kind: DrawnKind | null): void
}

export function DrawOnMap({ map, dataset, kind, onKind }: DrawOnMapProps): ReactElement | null {
  const editing = useOfferedEditing()
  const attribute = drawnAttribute(dataset.attributes)
  const isReady = useNewGeometry(map, attribute, kind, (geometry) => {
    onKind(null)
    editing?.add(geometry)
  })
  const [first] = attribute ? drawnKinds(attribute) : []
  if (!editing || !attribute || !first || !map) return null
  if (kind === null) {
    return (
      <div className={classes.drawBegin}>
        <Button icon="plus" disabledReason={editing.addRefusal} onClick={() => onKind(first)}>
          Draw a row
        </Button>
      </div>
    )
  }
  return (
    <section className={classes.drawPanel} aria-label="Draw a row" aria-busy={!isReady}>
      <div className={classes.draw}>
        <Segmented<DrawnKind>
          label="Draw"
          value={kind}
          options={drawnKinds(attribute).map((value) => ({ value, label: drawnLabels[value] }))}
          onChange={onKind}
        />
        <Button onClick={() => onKind(null)}>Cancel</Button>
      </div>
      <p className={classes.hint}>{drawnHints[kind]}</p>
    </section>
  )
}

function useNewGeometry(
  map: GraticuleMap | null,
  attribute: DatasetAttribute | undefined,
  kind: DrawnKind | null,
  onDrawn: (geometry: object) => void,
): boolean {
  const theme = useTheme()
  const [isReady, setReady] = useState(false)
  const take = useEffectEvent(onDrawn)
  useEffect(() => {
    if (!map || !attribute || !kind) return
    let stop = () => {}
    let isOver = false
    const onChange = (parts: Parameters<typeof geometryOfParts>[0]) => {
      const geometry = geometryOfParts(parts, attribute)
      if (geometry) take(geometry)
    }
    void import('./terra-drawing.ts').then(({ drawOn }) => {
      if (isOver) return
      stop = drawOn(map.gl, { theme, takesSeveral: false, onChange }, (drawing) => {
        drawing.setMode(kind)
        setReady(true)
      })
    })
    return () => {
      isOver = true
      setReady(false)
      stop()
    }
  }, [map, attribute, kind, theme])
  return isReady
}
