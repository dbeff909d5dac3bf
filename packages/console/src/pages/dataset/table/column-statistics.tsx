/** The icon of a column's type, which opens statistics of its values: histogram, most frequent values, counts. */
import type { AttributeStatistics } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { IconButton } from '../../../components/button.tsx'
import { ErrorNote } from '../../../components/error-note.tsx'
import { Skeleton } from '../../../components/note.tsx'
import { Popover } from '../../../components/popup/popover.tsx'
import { formatNumber } from '../../../format.ts'
import { queryKeys } from '../../../query-keys.ts'
import { useClient } from '../../../session/session.tsx'
import { formatCell, typeIcon, typeLabel } from '../attribute.ts'
import { type DatasetAttribute, useDataset } from '../dataset.ts'
import type { FilterCondition } from '../filter.ts'
import { useView } from '../view.ts'
import { useFilterParts } from './filter/filter-parts.ts'
import classes from './statistics.module.css'

interface ColumnGlyphProps {
  attribute: DatasetAttribute
}

export function ColumnGlyph({ attribute }: ColumnGlyphProps): ReactElement {
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover
      label={`Statistics of ${attribute.name}`}
      isOpen={isOpen}
      onOpenChange={setOpen}
      trigger={
        <IconButton
          icon={typeIcon(attribute.type)}
          label={`${typeLabel(attribute)}: statistics of ${attribute.name}`}
          tabIndex={-1}
          className={classes.glyph ?? ''}
        />
      }
    >
      {isOpen && <ColumnStatistics attribute={attribute} onDone={() => setOpen(false)} />}
    </Popover>
  )
}

/** Statistics of the filtered rows. */
export function useStatistics(attribute: string, isWanted = true) {
  const client = useClient()
  const { id } = useDataset()
  const { where } = useView()
  return useQuery({
    queryKey: queryKeys.datasets.one(id, 'statistics', attribute, where),
    queryFn: ({ signal }) => client.datasets.statistics(id, attribute, { signal, ...(where && { filter: where }) }),
    staleTime: 60_000,
    enabled: isWanted,
  })
}

interface ColumnStatisticsProps {
  attribute: DatasetAttribute
  onDone(): void
}

function ColumnStatistics({ attribute, onDone }: ColumnStatisticsProps): ReactElement {
  const { data, error, refetch } = useStatistics(attribute.name)
  const { addPart } = useFilterParts()
  const add = (operator: FilterCondition['operator'], ...values: FilterCondition['values']) => {
    addPart({ any: [{ attribute: attribute.name, operator, values }] })
    onDone()
  }
  return (
    <div className={classes.panel}>
      <h3>{attribute.name}</h3>
      <p className={classes.type}>
        {typeLabel(attribute)} · <code>{attribute.dbType}</code>
      </p>
      {attribute.description && <p>{attribute.description}</p>}
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton height={96} />}
      {data && data.histogram.length > 1 && <Histogram attribute={attribute} bins={data.histogram} onBin={add} />}
      {data && <Summary attribute={attribute} data={data} />}
      {data && data.histogram.length < 2 && data.frequent.length > 0 && (
        <Frequent attribute={attribute} data={data} onValue={add} />
      )}
      {data?.sampled && <p className={classes.type}>From a sample of {formatNumber(data.sampleSize)} rows.</p>}
    </div>
  )
}

type Add = (operator: FilterCondition['operator'], ...values: FilterCondition['values']) => void

interface HistogramProps {
  attribute: DatasetAttribute
  bins: AttributeStatistics['histogram']
  onBin: Add
}

function Histogram({ attribute, bins, onBin }: HistogramProps): ReactElement {
  const most = Math.max(1, ...bins.map(({ count }) => count))
  const show = (value: string | number) => formatCell(attribute, value) ?? ''
  return (
    <figure>
      <div className={classes.bars}>
        {bins.map(({ from, to, count }) => (
          <button
            key={String(from)}
            type="button"
            title={`${show(from)} – ${show(to)}: ${formatNumber(count)} rows`}
            aria-label={`Filter ${attribute.name} between ${show(from)} and ${show(to)}, ${formatNumber(count)} rows`}
            onClick={() => onBin('between', from, to)}
          >
            <span style={{ height: `${(100 * count) / most}%` }} />
          </button>
        ))}
      </div>
      <figcaption className={classes.ends}>
        <span>{show(bins[0]?.from ?? '')}</span>
        <span>{show(bins.at(-1)?.to ?? '')}</span>
      </figcaption>
    </figure>
  )
}

interface SummaryProps {
  attribute: DatasetAttribute
  data: AttributeStatistics
}

function Summary({ attribute, data }: SummaryProps): ReactElement {
  const show = (value: string | number | null) => formatCell(attribute, value)
  const median = data.quantiles.find(({ p }) => p === 0.5)?.value ?? null
  const rounded = data.mean === null ? null : Number(data.mean.toPrecision(6))
  const entries: [string, string | null][] = [
    ['values', formatNumber(data.count)],
    ['null', formatNumber(data.nulls)],
    ['different', data.distinct === null ? null : `${data.sampled ? 'about ' : ''}${formatNumber(data.distinct)}`],
    ['least', show(data.min)],
    ['median', show(median)],
    ['mean', rounded === null ? null : formatNumber(rounded)],
    ['most', show(data.max)],
  ]
  return (
    <dl className={classes.figures}>
      {entries.map(
        ([name, value]) =>
          value !== null && (
            <div key={name}>
              <dt>{name}</dt>
              <dd title={value}>{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

interface FrequentProps {
  attribute: DatasetAttribute
  data: AttributeStatistics
  onValue: Add
}

function Frequent({ attribute, data, onValue }: FrequentProps): ReactElement {
  const most = Math.max(1, ...data.frequent.map(({ count }) => count))
  const of = data.sampled ? data.sampleSize : data.rows.count
  return (
    <ul className={classes.frequent} aria-label="Most frequent values">
      {data.frequent.slice(0, 8).map(({ value, count }) => (
        <li key={String(value)}>
          <button type="button" onClick={() => onValue('is', value)} title={`Filter ${attribute.name} = ${value}`}>
            <span className={classes.share} style={{ width: `${(100 * count) / most}%` }} />
            <span>{formatCell(attribute, value) || '(empty text)'}</span>
            <span>{Math.round((1000 * count) / Math.max(1, of)) / 10} %</span>
          </button>
        </li>
      ))}
    </ul>
  )
}
