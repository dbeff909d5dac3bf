/** The columns of a file with types that can be changed, and its first rows. */
import type { UploadOptions, UploadPreview } from '@graticule/client'
import type { ReactElement } from 'react'
import { columnTypes } from '../../../../server/src/data/uploads/readers/table-rules.ts'
import { withOption } from '../upload-options.ts'
import classes from '../uploads.module.css'

interface PreviewTableProps {
  layer: UploadPreview['layers'][number]
  options: UploadOptions
  onChange(options: UploadOptions): void
}

type ColumnType = (typeof columnTypes)[number]

export function PreviewTable({ layer: { columns, rows }, options, onChange }: PreviewTableProps): ReactElement {
  const setType = (name: string, type: string) => {
    const { [name]: _, ...others } = options.types ?? {}
    const types = type === '' ? others : { ...others, [name]: type as ColumnType }
    onChange(withOption(options, 'types', Object.keys(types).length > 0 ? types : undefined))
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section className={classes.previewTable} aria-label="Columns and first rows" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(({ name, type }) => (
              <th key={name} scope="col">
                <span>{name}</span>
                <select
                  aria-label={`Type of ${name}`}
                  value={options.types?.[name] ?? ''}
                  onChange={({ target }) => setType(name, target.value)}
                >
                  <option value="">{options.types?.[name] ? 'as found' : type}</option>
                  {columnTypes.map((one) => (
                    <option key={one} value={one}>
                      {one}
                    </option>
                  ))}
                </select>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {columns.map(({ name, column }) => (
                <td key={name}>{textOf(row[column])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const longest = 60

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}
