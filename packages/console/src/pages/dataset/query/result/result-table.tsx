/** The result as a virtualized table: only visible rows are in the DOM. */
import type { JsonObject } from '@graticule/client'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactElement, useRef } from 'react'
import { alignmentOf, formatCell } from '../../attribute.ts'
import classes from '../query.module.css'
import { geometryText, type ResultColumn } from './result.ts'

const rowHeight = 28

interface ResultTableProps {
  rows: readonly JsonObject[]
  columns: readonly ResultColumn[]
}

export function ResultTable({ rows, columns }: ResultTableProps): ReactElement {
  const frame = useRef<HTMLElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  })
  const items = virtual.getVirtualItems()
  const above = items[0]?.start ?? 0
  const below = virtual.getTotalSize() - (items.at(-1)?.end ?? 0)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
    <section ref={frame} tabIndex={0} aria-label="Rows" className={classes.scroll}>
      <table className={classes.table} aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            <th scope="col" data-align="end">
              #
            </th>
            {columns.map(({ name, type }) => (
              <th key={name} scope="col" data-align={alignmentOf(type)}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {above > 0 && <tr style={{ height: above }} />}
          {items.map(({ index }) => (
            <tr key={index} aria-rowindex={index + 2}>
              <td data-align="end" className={classes.muted}>
                {index + 1}
              </td>
              {columns.map((column) => (
                <Cell key={column.name} column={column} value={rows[index]?.[column.name]} />
              ))}
            </tr>
          ))}
          {below > 0 && <tr style={{ height: below }} />}
        </tbody>
      </table>
    </section>
  )
}

interface CellProps {
  column: ResultColumn
  value: unknown
}

function Cell({ column, value }: CellProps): ReactElement {
  const text = column.type === 'geometry' ? geometryText(value) : formatCell(column, value)
  return (
    <td data-align={alignmentOf(column.type)} title={text && text.length > 40 ? text : undefined}>
      {text ?? <span className={classes.muted}>null</span>}
    </td>
  )
}
