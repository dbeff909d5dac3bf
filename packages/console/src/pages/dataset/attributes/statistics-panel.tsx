/** Statistics of an attribute: counts, range, distribution, most frequent values. */
import type { AttributeStatistics, Dataset } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { ErrorNote } from '../../../components/error-note.tsx'
import { Skeleton } from '../../../components/note.tsx'
import { formatNumber } from '../../../format.ts'
import { queryKeys } from '../../../query-keys.ts'
import { useClient } from '../../../session/session.tsx'
import { formatCell } from '../attribute.ts'
import type { DatasetAttribute } from '../dataset.ts'
import { useQuerySession } from '../query/query-session.ts'
import classes from './attributes.module.css'
import { type Bar, frequentBars, histogramBars, sourceSentence, spreadOf } from './statistics.ts'

interface StatisticsPanelProps {
  dataset: Dataset
  attribute: DatasetAttribute
}

export function StatisticsPanel({ dataset, attribute }: StatisticsPanelProps): ReactElement {
  const client = useClient()
  // Uses the dataset's parameters from the query tab.
  const [{ parameters }] = useQuerySession(dataset.id)
  const inputs = Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== ''))
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.datasets.one(dataset.id, 'statistics', attribute.name, inputs),
    queryFn: ({ signal }) =>
      client.datasets.statistics(dataset.id, attribute.name, { ...inputs, quantiles: 4, signal }),
    staleTime: 60_000,
  })
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={120} />
  return <Statistics attribute={attribute} data={data} />
}

interface StatisticsProps {
  attribute: DatasetAttribute
  data: AttributeStatistics
}

function Statistics({ attribute, data }: StatisticsProps): ReactElement {
  const show = (value: unknown) => formatCell(attribute, value) ?? 'null'
  const spread = spreadOf(data)
  const bars = histogramBars(data, show)
  const frequent = frequentBars(data, show)
  return (
    <div className={classes.statistics}>
      <p className={classes.muted}>{sourceSentence(data)}</p>
      {spread.length > 0 && (
        <dl className={classes.spread}>
          {spread.map(({ label, value }) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{label === 'mean' ? formatNumber(Number(Number(value).toPrecision(6))) : show(value)}</dd>
            </div>
          ))}
        </dl>
      )}
      {bars.length > 1 && <Histogram bars={bars} />}
      {frequent.length > 0 && <Frequent bars={frequent} isSampled={data.sampled} />}
    </div>
  )
}

interface HistogramProps {
  bars: readonly Bar[]
}

function Histogram({ bars }: HistogramProps): ReactElement {
  return (
    <section aria-label="Histogram">
      <h3 className={classes.title}>How they are spread</h3>
      <ol className={classes.histogram}>
        {bars.map(({ label, count, share }) => (
          <li key={label} title={`${label}: ${formatNumber(count)}`}>
            <span style={{ height: `${Math.max(share * 100, count > 0 ? 2 : 0)}%` }} />
            <span className="visually-hidden">
              {label}: {formatNumber(count)}
            </span>
          </li>
        ))}
      </ol>
      <p className={classes.ends}>
        <span>{bars[0]?.label.split(' – ')[0]}</span>
        <span>{bars.at(-1)?.label.split(' – ')[1]}</span>
      </p>
    </section>
  )
}

interface FrequentProps {
  bars: readonly Bar[]
  isSampled: boolean
}

function Frequent({ bars, isSampled }: FrequentProps): ReactElement {
  return (
    <section aria-label="Most frequent values">
      <h3 className={classes.title}>Most frequent{isSampled && ', in the sample'}</h3>
      <ol className={classes.frequent}>
        {bars.map(({ label, count, share }) => (
          <li key={label}>
            <span className={classes.value} title={label}>
              {label}
            </span>
            <span className={classes.track}>
              <span style={{ width: `${share * 100}%` }} />
            </span>
            <span className={classes.count}>{formatNumber(count)}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}
