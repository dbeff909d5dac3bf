import type { Client, Dataset } from '@graticule/client'
import { useAppState } from '@graticule/map/react'
import { useEffect, useState } from 'react'

type Row = Record<string, unknown>

const shownRows = 200

/** The attribute that tells the rows apart. */
export const keyOf = ({ attributes }: Dataset): string => attributes.find(({ primaryKey }) => primaryKey)?.name ?? 'id'

/** The first rows of a dataset; a click selects a row, or takes it out of the selection. */
export function DatasetTable({ client, dataset }: { client: Client; dataset: Dataset }) {
  const [rows, setRows] = useState<Row[]>([])
  const [selected, setSelected] = useAppState<(string | number)[]>('selected')
  const key = keyOf(dataset)
  const columns = dataset.attributes.filter(({ type }) => type !== 'geometry').map(({ name }) => name)

  useEffect(() => {
    const leaving = new AbortController()
    const attributes = dataset.attributes.filter(({ type }) => type !== 'geometry').map(({ name }) => name)
    client.datasets
      .query<Row>(dataset.id, { attributes, order: [keyOf(dataset)], limit: shownRows }, { signal: leaving.signal })
      .then(setRows, (error) => leaving.signal.aborted || console.error(error))
    return () => leaving.abort()
  }, [client, dataset])

  const toggle = (id: string | number) =>
    setSelected(selected.includes(id) ? selected.filter((other) => other !== id) : [...selected, id])
  return (
    <table>
      <thead>
        <tr>
          {columns.map((name) => (
            <th key={name}>{name}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const id = row[key] as string | number
          return (
            <tr key={id} aria-selected={selected.includes(id)} onClick={() => toggle(id)}>
              {columns.map((name) => (
                <td key={name}>{String(row[name] ?? '')}</td>
              ))}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
