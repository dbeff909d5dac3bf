/** A bar chart as a table, so that screen readers can read it. */
import type { ReactElement } from 'react'
import classes from './tiles.module.css'

export interface BarsProps {
  title: string
  values: readonly (readonly [name: string, value: number])[]
  format(value: number): string
  /** Largest first. */
  isSorted?: boolean
}

export function Bars({ title, values, format, isSorted = false }: BarsProps): ReactElement {
  const shown = isSorted ? [...values].sort(([, one], [, other]) => other - one) : values
  const largest = Math.max(1, ...shown.map(([, value]) => value))
  return (
    <table className={classes.bars}>
      <caption>{title}</caption>
      <tbody>
        {shown.map(([name, value]) => (
          <tr key={name}>
            <th scope="row" title={name}>
              {name}
            </th>
            <td className={classes.bar}>
              <span style={{ width: `${(value / largest) * 100}%` }} />
            </td>
            <td className={classes.number}>{format(value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
