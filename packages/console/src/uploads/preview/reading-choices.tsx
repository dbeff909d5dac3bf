/** The choices that answer the warnings of a preview: where the geometry is, in which system, encoding and notation. */
import type { UploadOptions, UploadPreview } from '@graticule/client'
import { type ReactElement, useState } from 'react'
import { Select, TextField } from '../../components/field.tsx'
import { sridFault } from '../srid.ts'
import { withOption } from '../upload-options.ts'
import classes from '../uploads.module.css'
import type { Choice } from './doubts.ts'

interface ReadingChoicesProps {
  choices: readonly Choice[]
  options: UploadOptions
  columns: UploadPreview['layers'][number]['columns']
  onChange(options: UploadOptions): void
}

export function ReadingChoices({ choices, options, columns, onChange }: ReadingChoicesProps): ReactElement | null {
  const names = columns.map(({ name }) => name)
  if (choices.length === 0) return null
  return (
    <div className={classes.grid}>
      {choices.includes('geometry') && <GeometryChoice options={options} names={names} onChange={onChange} />}
      {(choices.includes('sourceSrid') || choices.includes('geometry')) && (
        <TextField
          label="Reference system of the file"
          hint="As found, unless given: 2056 or EPSG:2056"
          error={sridFault(options.sourceSrid)}
          value={String(options.sourceSrid ?? '')}
          onChange={(text) => onChange(withOption(options, 'sourceSrid', text.trim() || undefined))}
        />
      )}
      {choices.includes('encoding') && (
        <TextField
          label="Encoding"
          hint="As found, unless given: windows-1251"
          maxLength={40}
          value={options.encoding ?? ''}
          onChange={(text) => onChange(withOption(options, 'encoding', text.trim() || undefined))}
        />
      )}
      {choices.includes('values') && (
        <>
          <Select
            label="Dates are written"
            value={options.dateOrder ?? ''}
            options={dateOrders}
            onChange={(order) =>
              onChange(withOption(options, 'dateOrder', (order || undefined) as UploadOptions['dateOrder']))
            }
          />
          <Select
            label="Decimals stand behind"
            value={options.decimal ?? ''}
            options={decimals}
            onChange={(mark) =>
              onChange(withOption(options, 'decimal', (mark || undefined) as UploadOptions['decimal']))
            }
          />
        </>
      )}
    </div>
  )
}

const dateOrders = [
  { value: '', label: 'As found' },
  { value: 'dmy', label: 'Day, month, year' },
  { value: 'mdy', label: 'Month, day, year' },
  { value: 'ymd', label: 'Year, month, day' },
]
const decimals = [
  { value: '', label: 'As found' },
  { value: ',', label: 'A comma: 1,5' },
  { value: '.', label: 'A point: 1.5' },
]

interface GeometryChoiceProps {
  options: UploadOptions
  names: readonly string[]
  onChange(options: UploadOptions): void
}

const ways = [
  { value: '', label: 'As found' },
  { value: 'none', label: 'No geometry' },
  { value: 'pair', label: 'From two columns' },
  { value: 'lonlat', label: 'From one column: longitude, latitude' },
  { value: 'latlon', label: 'From one column: latitude, longitude' },
]

function GeometryChoice({ options, names, onChange }: GeometryChoiceProps): ReactElement {
  const [way, setWay] = useState(options.geometry === undefined ? '' : options.geometry === 'none' ? 'none' : 'pair')
  const [first, setFirst] = useState('')
  const [second, setSecond] = useState('')
  const choose = (next: { way?: string; first?: string; second?: string }) => {
    const chosen = { way, first, second, ...next }
    setWay(chosen.way)
    setFirst(chosen.first)
    setSecond(chosen.second)
    onChange(withOption(options, 'geometry', geometryField(chosen)))
  }
  const columns = [{ value: '', label: 'Choose a column' }, ...names.map((name) => ({ value: name, label: name }))]
  const isPair = way === 'pair'
  return (
    <>
      <Select label="Geometry" value={way} options={ways} onChange={(next) => choose({ way: next })} />
      {way !== '' && way !== 'none' && (
        <Select
          label={isPair ? 'Longitude or easting' : 'Column'}
          value={first}
          options={columns}
          onChange={(next) => choose({ first: next })}
        />
      )}
      {isPair && (
        <Select
          label="Latitude or northing"
          value={second}
          options={columns}
          onChange={(next) => choose({ second: next })}
        />
      )}
    </>
  )
}

/** The upload field `geometry`; undefined until it is complete. */
function geometryField({ way, first, second }: { way: string; first: string; second: string }): string | undefined {
  if (way === 'none') return way
  if (first === '') return undefined
  // Names may hold commas.
  if (way === 'pair') return second === '' ? undefined : JSON.stringify([first, second])
  return way === '' ? undefined : `${first}:${way === 'lonlat' ? 'lon,lat' : 'lat,lon'}`
}
