/** The field of a geometry: a point by its coordinates or a click on the map, any other drawn on it or as GeoJSON. */
import { lazy, type ReactElement, Suspense, useMemo, useState } from 'react'
import { Field, Segmented } from '../../../components/field.tsx'
import { Skeleton } from '../../../components/note.tsx'
import { type CellDraft, emptied, pointOf, readCell } from './cell-draft.ts'
import { type CellFieldProps, placeholderOf } from './cell-field.ts'
import { drawnKinds, partsOf } from './drawing/drawn-geometry.ts'
import classes from './edit.module.css'

const DrawMap = lazy(async () => ({ default: (await import('./drawing/draw-map.tsx')).DrawMap }))
const PointMap = lazy(async () => ({ default: (await import('./point-map.tsx')).PointMap }))

export function GeometryField(props: CellFieldProps): ReactElement {
  const { attribute, cell, onChange } = props
  const { name, geometryType = 'Geometry' } = attribute
  const [chosen, setChosen] = useState<Form | null>(null)
  // Of a large geometry this takes longer than a keystroke in another field.
  const geometry = useMemo(() => geometryOf(attribute, cell), [attribute, cell])
  const form = chosen ?? formOf(geometryType, cell)
  const isDrawn = form === 'geojson' && drawnKinds(attribute).length > 0 && partsOf(geometry) !== undefined
  return (
    <fieldset className={classes.geometry}>
      <legend>{name}</legend>
      {geometryType === 'Geometry' && (
        <Segmented<Form> label={`Form of ${name}`} value={form} options={forms} onChange={setChosen} />
      )}
      {form === 'point' ? (
        <PointFields {...props} parts={cell.point ?? pointOf(geometry) ?? []} />
      ) : (
        <GeoJsonField {...props} text={cell.point ? pointText(geometry) : cell.text} />
      )}
      <Suspense fallback={<Skeleton height={mapHeight} />}>
        {isDrawn ? (
          <DrawMap attribute={attribute} geometry={geometry} onDraw={(drawn) => onChange(drawnCell(props, drawn))} />
        ) : (
          <PointMap
            label={`Map for ${name}`}
            geometry={geometry}
            onPick={form === 'point' ? (position) => onChange(pickedPoint(cell, position)) : undefined}
          />
        )}
      </Suspense>
    </fieldset>
  )
}

const mapHeight = 240

type Form = 'point' | 'geojson'

const forms = [
  { value: 'point', label: 'Point' },
  { value: 'geojson', label: 'Drawing, GeoJSON' },
] as const

function formOf(geometryType: string, { mode, point }: CellDraft): Form {
  if (geometryType !== 'Geometry') return geometryType === 'Point' ? 'point' : 'geojson'
  return point || mode !== 'value' ? 'point' : 'geojson'
}

const drawnCell = ({ attribute, isNew }: CellFieldProps, drawn: object | null): CellDraft =>
  drawn ? { mode: 'value', text: JSON.stringify(drawn) } : emptied(attribute, isNew)

/** What the map shows; null while it is not complete. */
function geometryOf(attribute: CellFieldProps['attribute'], cell: CellDraft): object | null {
  const read = readCell(attribute, cell)
  return 'value' in read && typeof read.value === 'object' ? read.value : null
}

/** A point that is not complete is no GeoJSON yet. */
const pointText = (geometry: object | null): string => (geometry ? JSON.stringify(geometry) : '')

/** Six decimals are a tenth of a metre. */
const decimals = 6

const pickedPoint = ({ point }: CellDraft, position: readonly [number, number]): CellDraft => ({
  mode: 'value',
  text: '',
  point: [...position.map((one) => String(Number(one.toFixed(decimals)))), ...(point ?? []).slice(2)],
})

interface PointFieldsProps extends CellFieldProps {
  /** What is typed: longitude, latitude, height. */
  parts: readonly string[]
}

function PointFields({ attribute, cell, parts, isNew, error, onChange }: PointFieldsProps): ReactElement {
  const { name, dimension = 2, description } = attribute
  const labels = ['Longitude', 'Latitude', ...(dimension > 2 || parts.length > 2 ? ['Height'] : [])]
  const change = (place: number, text: string) => {
    const point = labels.map((_, index) => (index === place ? text : (parts[index] ?? '')))
    onChange(point.every((one) => one === '') ? emptied(attribute, isNew) : { mode: 'value', text: '', point })
  }
  return (
    <>
      <div className={classes.point}>
        {labels.map((label, place) => (
          <Field key={label} label={`${label} of ${name}`} error={place === 0 ? error : undefined}>
            {(control) => (
              <input
                {...control}
                inputMode="decimal"
                autoComplete="off"
                placeholder={cell.mode === 'value' ? '' : placeholderOf({ attribute, cell })}
                value={parts[place] ?? ''}
                onChange={({ target: { value } }) => change(place, value)}
              />
            )}
          </Field>
        ))}
      </div>
      <p className={classes.hint}>{description || 'Click on the map, or type degrees.'}</p>
    </>
  )
}

interface GeoJsonFieldProps extends CellFieldProps {
  text: string
}

function GeoJsonField({ attribute, cell, text, isNew, error, onChange }: GeoJsonFieldProps): ReactElement {
  const { name, geometryType = 'Geometry', description } = attribute
  const kind = geometryType === 'Geometry' ? 'geometry' : geometryType
  return (
    <Field label={`GeoJSON of ${name}`} error={error} hint={description || `A ${kind} in longitude and latitude`}>
      {({ className, ...control }) => (
        <textarea
          {...control}
          className={[className, classes.area, classes.code].join(' ')}
          rows={4}
          spellCheck={false}
          placeholder={cell.mode === 'value' ? example(geometryType) : placeholderOf({ attribute, cell })}
          value={text}
          onChange={({ target: { value } }) =>
            onChange(value === '' ? emptied(attribute, isNew) : { mode: 'value', text: value })
          }
        />
      )}
    </Field>
  )
}

const example = (geometryType: string): string =>
  `{"type": "${geometryType === 'Geometry' ? 'LineString' : geometryType}", "coordinates": […]}`
