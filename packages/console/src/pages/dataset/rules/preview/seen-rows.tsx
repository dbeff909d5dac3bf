/** The first rows that somebody would see, with the attributes that rules show. */
import type { Dataset, DatasetsTryRulesAnswer } from '@graticule/client'
import type { ReactElement } from 'react'
import { layout } from '../../../../components/page.tsx'
import { alignmentOf, formatCell } from '../../attribute.ts'
import type { DatasetAttribute } from '../../dataset.ts'
import { geometryText } from '../../query/result/result.ts'
import classes from '../rules.module.css'

export interface SeenRowsProps {
  dataset: Dataset
  answer: DatasetsTryRulesAnswer
}

export function SeenRows({ dataset, answer: { attributes: names, rows, count } }: SeenRowsProps): ReactElement {
  const columns = dataset.attributes.filter(({ name }) => names.includes(name))
  const hidden = dataset.attributes.filter(({ name }) => !names.includes(name)).map(({ name }) => name)
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
      <section tabIndex={0} aria-label="First rows" className={layout.scroll}>
        <table className={`${layout.list} ${classes.rows}`}>
          <thead>
            <tr>
              {columns.map(({ name, type }) => (
                <th key={name} scope="col" data-align={alignmentOf(type)}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>
                {columns.map((column) => (
                  <td key={column.name} data-align={alignmentOf(column.type)}>
                    {cellText(column, row[column.name]) ?? <span className={classes.muted}>null</span>}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <p className={classes.muted}>
        {count > rows.length && `The first ${rows.length} rows. `}
        {hidden.length > 0 && `Not seen: ${hidden.join(', ')}.`}
      </p>
    </>
  )
}

const cellText = (column: DatasetAttribute, value: unknown): string | null =>
  column.type === 'geometry' ? geometryText(value) : formatCell(column, value)
