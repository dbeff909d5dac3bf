/** Bars of one measure over time, as SVG, with the same numbers as a table, which is what screen readers get. */
import { type ReactElement, useId } from 'react'
import { layout } from '../../components/page.tsx'
import { axisEnd, type Measure, type Series, sumOf, whole } from './measures.ts'
import { type Period, periodLabel, type UsageRequest } from './periods.ts'
import classes from './usage.module.css'

interface UsageChartProps {
  measure: Measure
  periods: readonly Period[]
  interval: UsageRequest['interval']
}

export function UsageChart({ measure, periods, interval }: UsageChartProps): ReactElement {
  const id = useId()
  const { title, bars } = measure
  const [first] = bars
  const all = whole(measure)
  const end = axisEnd(Math.max(...periods.map(all)))
  const show = (value: number): string => first?.format(value) ?? String(value)
  return (
    <figure className={classes.chart} aria-labelledby={id}>
      <figcaption id={id}>
        <h3>{title}</h3>
        <span className={classes.total}>{show(sumOf(all, periods))}</span>
      </figcaption>
      <div className={classes.axis} aria-hidden="true">
        {show(end)}
      </div>
      <Bars measure={measure} periods={periods} interval={interval} end={end} />
      <p className={classes.ends} aria-hidden="true">
        <span>{periodLabel(periods[0]?.start ?? '', interval)}</span>
        <span>{periodLabel(periods.at(-1)?.start ?? '', interval)}</span>
      </p>
      {bars.length > 1 ? (
        <Legend bars={bars} periods={periods} />
      ) : (
        <p className={classes.peak}>{peakText(periods, all, show, interval)}</p>
      )}
      <Numbers measure={measure} periods={periods} interval={interval} />
    </figure>
  )
}

function peakText(
  periods: readonly Period[],
  of: (period: Period) => number,
  show: (value: number) => string,
  interval: UsageRequest['interval'],
): string {
  const peak = periods.reduce((most, period) => (of(period) > of(most) ? period : most))
  return `Most: ${show(of(peak))}, ${periodLabel(peak.start, interval)}`
}

const percent = (share: number): string => `${share * 100}%`
/** Of a bar's place, the rest is the gap. */
const barShare = 0.76

function Bars({ measure, periods, interval, end }: UsageChartProps & { end: number }): ReactElement {
  const place = 1 / periods.length
  return (
    <svg className={classes.plot} aria-hidden="true">
      <line x1="0" x2="100%" y1="0" y2="0" />
      <line x1="0" x2="100%" y1="50%" y2="50%" />
      {periods.map((period, index) => {
        let below = 0
        return (
          <g key={period.start}>
            <title>{barText(measure, period, interval)}</title>
            <rect className={classes.reach} x={percent(index * place)} width={percent(place)} y="0" height="100%" />
            {measure.bars.map(({ label, of }, series) => {
              const share = of(period) / end
              below += share
              return (
                share > 0 && (
                  <rect
                    key={label}
                    data-series={series}
                    x={percent((index + (1 - barShare) / 2) * place)}
                    width={percent(barShare * place)}
                    y={percent(1 - below)}
                    height={percent(share)}
                  />
                )
              )
            })}
          </g>
        )
      })}
    </svg>
  )
}

function barText({ bars }: Measure, period: Period, interval: UsageRequest['interval']): string {
  const values = bars.map(({ label, of, format }) =>
    bars.length > 1 ? `${label}: ${format(of(period))}` : format(of(period)),
  )
  return `${periodLabel(period.start, interval)}\n${values.join('\n')}`
}

interface LegendProps {
  bars: readonly Series[]
  periods: readonly Period[]
}

function Legend({ bars, periods }: LegendProps): ReactElement {
  return (
    <ul className={classes.legend}>
      {bars.map(({ label, of, format }, series) => (
        <li key={label} data-series={series}>
          {label} {format(sumOf(of, periods))}
        </li>
      ))}
    </ul>
  )
}

/** The newest first, as in all lists. */
function Numbers({ measure, periods, interval }: UsageChartProps): ReactElement {
  const columns = [...measure.bars, ...(measure.further ?? [])]
  return (
    <details className={classes.numbers}>
      <summary>Numbers of {measure.title.toLowerCase()}</summary>
      <table className={layout.list}>
        <thead>
          <tr>
            <th scope="col">{interval === 'day' ? 'Day' : 'Month'}</th>
            {columns.map(({ label }) => (
              <th key={label} scope="col" data-align="end">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {periods.toReversed().map((period) => (
            <tr key={period.start}>
              <th scope="row">{periodLabel(period.start, interval)}</th>
              {columns.map(({ label, of, format }) => (
                <td key={label} data-align="end">
                  {format(of(period))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">All</th>
            {columns.map(({ label, of, format }) => (
              <td key={label} data-align="end">
                {format(sumOf(of, periods))}
              </td>
            ))}
          </tr>
        </tfoot>
      </table>
    </details>
  )
}
