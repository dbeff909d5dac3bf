/** The result on a map. */
import type { JsonObject } from '@graticule/client'
import { DataSource } from '@graticule/map/react'
import { type ReactElement, useMemo } from 'react'
import { Note } from '../../../../components/note.tsx'
import { formatNumber } from '../../../../format.ts'
import { MapView } from '../../../../map/map-view.tsx'
import classes from '../query.module.css'
import { boundsOf, featuresOf } from './result.ts'

export interface ResultMapProps {
  rows: readonly JsonObject[]
  /** The column of the geometry. */
  column: string
  name: string
}

export function ResultMap({ rows, column, name }: ResultMapProps): ReactElement {
  const features = useMemo(() => featuresOf(rows, column), [rows, column])
  const bounds = useMemo(() => boundsOf(features), [features])
  if (!bounds) return <Note>None of the {formatNumber(rows.length)} rows has a geometry.</Note>
  return (
    <div className={classes.map}>
      <MapView
        label={`Map of the rows of ${name}`}
        bounds={bounds}
        onReady={(map) => map.fit(bounds, { animate: false })}
      >
        <DataSource
          key={column}
          id="result"
          src={features}
          selectionMode="single"
          selectionPopup={({ feature }) => popup(feature.properties)}
        />
      </MapView>
    </div>
  )
}

const mostShown = 12

function popup(properties: Readonly<Record<string, unknown>> | null): HTMLElement {
  const list = document.createElement('dl')
  list.className = classes.popup ?? ''
  for (const [name, value] of Object.entries(properties ?? {}).slice(0, mostShown)) {
    const term = document.createElement('dt')
    const text = document.createElement('dd')
    term.textContent = name
    text.textContent = value === null ? 'null' : String(value)
    list.append(term, text)
  }
  return list
}
