/** Tables with checkboxes; those already published link to their datasets. */
import type { DatabaseTable } from '@graticule/client'
import { Link } from '@tanstack/react-router'
import { type ReactElement, useState } from 'react'
import { Button, IconButton } from '../../components/button.tsx'
import { GeometryGlyph, geometryKind } from '../../components/geometry-glyph.tsx'
import { layout } from '../../components/page.tsx'
import { formatNumber, formatRows } from '../../format.ts'
import classes from './databases.module.css'
import { type TableOutcome, tableKey } from './publish-tables.ts'
import { TablePreview } from './table-preview.tsx'

export interface TableListProps {
  databaseId: string
  tables: readonly DatabaseTable[]
  /** Keys of tables. */
  chosen: ReadonlySet<string>
  outcomes: readonly TableOutcome[]
  onChoose(chosen: ReadonlySet<string>): void
}

const shownAtOnce = 200

export function TableList({ databaseId, tables, chosen, outcomes, onChoose }: TableListProps): ReactElement {
  const [most, setMost] = useState(shownAtOnce)
  const [looked, setLooked] = useState<DatabaseTable | null>(null)
  const free = tables.filter(({ datasetId }) => datasetId === null).map(tableKey)
  const isAll = free.length > 0 && free.every((key) => chosen.has(key))
  const toggleAll = () => onChoose(isAll ? without(chosen, free) : new Set([...chosen, ...free]))
  const faults = new Map(outcomes.map(({ table, fault }) => [table, fault]))
  return (
    <>
      <table className={`${layout.list} ${classes.tableList}`}>
        <thead>
          <tr>
            <th scope="col">
              <input
                type="checkbox"
                aria-label="All that are shown and not yet published"
                checked={isAll}
                disabled={free.length === 0}
                onChange={toggleAll}
              />
            </th>
            <th scope="col">Table</th>
            <th scope="col">Kind</th>
            <th scope="col">Geometry</th>
            <th scope="col" data-align="end">
              Rows, about
            </th>
            <th scope="col">Dataset</th>
          </tr>
        </thead>
        <tbody>
          {tables.slice(0, most).map((table) => (
            <TableRow
              key={tableKey(table)}
              table={table}
              isChosen={chosen.has(tableKey(table))}
              fault={faults.get(tableKey(table)) ?? null}
              onLook={() => setLooked(table)}
              onChoose={(isChosen) =>
                onChoose(isChosen ? new Set([...chosen, tableKey(table)]) : without(chosen, [tableKey(table)]))
              }
            />
          ))}
        </tbody>
      </table>
      {tables.length > most && (
        <div className={layout.row}>
          <span className={classes.quiet}>
            {formatNumber(most)} of {formatNumber(tables.length)}
          </span>
          <Button onClick={() => setMost(most + shownAtOnce)}>Show more</Button>
        </div>
      )}
      {looked && <TablePreview databaseId={databaseId} table={looked} onClose={() => setLooked(null)} />}
    </>
  )
}

const without = (set: ReadonlySet<string>, keys: readonly string[]): ReadonlySet<string> =>
  set.difference(new Set(keys))

interface TableRowProps {
  table: DatabaseTable
  isChosen: boolean
  fault: string | null
  onChoose(isChosen: boolean): void
  onLook(): void
}

function TableRow({ table, isChosen, fault, onChoose, onLook }: TableRowProps): ReactElement {
  const { source, kind, rows, geometryType, srid, comment, datasetId } = table
  const geometry = geometryType && [geometryType, srid && `EPSG:${srid}`].filter(Boolean).join(', ')
  return (
    <tr>
      <td>
        {datasetId === null && (
          <input
            type="checkbox"
            aria-label={`Publish ${source}`}
            checked={isChosen}
            onChange={({ target }) => onChoose(target.checked)}
          />
        )}
      </td>
      <td>
        <div className={classes.tableName}>
          <GeometryGlyph kind={geometryKind(geometryType)} />
          <span title={comment || source}>{source}</span>
        </div>
        {comment && <p className={classes.quiet}>{comment}</p>}
        {fault && <p className={classes.fault}>{fault}</p>}
        <p className={classes.phoneFacts}>
          {[kind, geometry, rows !== null && formatRows(rows)].filter(Boolean).join(' · ')}
        </p>
      </td>
      <td>{kind}</td>
      <td>{geometry ?? '–'}</td>
      <td data-align="end">{rows === null ? '–' : formatNumber(rows)}</td>
      <td>
        <IconButton icon="eye" label={`Look into ${source}`} onClick={onLook} />
        {datasetId && (
          <Link className={classes.tableLink} to="/data/$datasetId/table" params={{ datasetId }}>
            Open<span className="visually-hidden"> the dataset of {source}</span>
          </Link>
        )}
      </td>
    </tr>
  )
}
