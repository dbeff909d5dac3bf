/** What one application uses: its limits, what it keeps now, and charts over time. */
import type { Usage } from '@graticule/client'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { ErrorNote } from '../../components/error-note.tsx'
import { Segmented } from '../../components/field.tsx'
import { Empty, Skeleton } from '../../components/note.tsx'
import { layout, Page } from '../../components/page.tsx'
import { formatBytes, formatNumber } from '../../format.ts'
import { LimitsSection } from './limits-section.tsx'
import { type Measure, measures, sumOf, whole } from './measures.ts'
import { type Period, wholePeriods } from './periods.ts'
import classes from './usage.module.css'
import { UsageChart } from './usage-chart.tsx'
import { type Report, useReport } from './usage-query.ts'
import { defaultSpan, spanLabels, spans, type UsageSpan } from './usage-search.ts'

const route = getRouteApi('/shell/usage/{-$applicationId}')

interface ApplicationUsageProps {
  applicationId: string
  back?: { to: string; label: string }
}

export function ApplicationUsage({ applicationId, back }: ApplicationUsageProps): ReactElement {
  const { span = defaultSpan } = route.useSearch()
  const { data, error, isPlaceholderData, refetch } = useReport(applicationId, span)
  return (
    <Page
      title={back && data ? `Usage of ${data.usage.name}` : 'Usage'}
      facts={data && factsOf(data.usage)}
      {...(back && { back })}
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data === undefined && !error && <Skeleton height={320} />}
      {data === null && (
        <Empty title="There is no usage to show">
          <p>Usage is counted for whole applications. There is no such application, or this key may not read it.</p>
        </Empty>
      )}
      {data && (
        <div className={classes.page}>
          <LimitsSection usage={data.usage} />
          <KeptNow usage={data.usage} />
          <OverTime report={data} span={span} isOld={isPlaceholderData} />
        </div>
      )}
    </Page>
  )
}

const factsOf = ({ month, today }: Usage): string =>
  `${formatNumber(month.requests)} requests this month, ${formatNumber(today.requests)} today · a few seconds behind`

const recordLabels: Readonly<Record<string, string>> = {
  datasets: 'Datasets',
  styles: 'Maps',
  tilesources: 'Tile sources',
  databases: 'Databases',
  users: 'Users',
  agents: 'Agents',
  contactpoints: 'Contact points',
  uploads: 'Uploads',
}

interface KeptNowProps {
  usage: Usage
}

function KeptNow({ usage: { storage, records } }: KeptNowProps): ReactElement {
  const facts: [label: string, value: string][] = [
    ['Tables', formatBytes(storage.tableBytes)],
    ['Files', formatBytes(storage.fileBytes)],
    ['Rows, about', formatNumber(storage.rows)],
    ...Object.entries(recordLabels).flatMap(([kind, label]): [string, string][] => {
      const count = records[kind]
      return count === undefined ? [] : [[label, formatNumber(count)]]
    }),
  ]
  return (
    <section className={layout.section} aria-labelledby="kept">
      <h2 id="kept">Kept now</h2>
      <dl className={classes.facts}>
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

interface OverTimeProps {
  report: Report
  span: UsageSpan
  isOld: boolean
}

function OverTime({ report: { usage, request }, span, isOld }: OverTimeProps): ReactElement {
  const navigate = route.useNavigate()
  const periods = wholePeriods(request, usage.periods)
  const isUsed = (measure: Measure) => sumOf(whole(measure), periods) > 0
  return (
    <section className={layout.section} aria-labelledby="over-time">
      <div className={classes.head}>
        <h2 id="over-time">Over time</h2>
        <Segmented
          label="Time"
          value={span}
          options={(Object.keys(spans) as UsageSpan[]).map((value) => ({ value, label: spanLabels[value] }))}
          onChange={(next) => void navigate({ search: (old) => ({ ...old, span: next }), replace: true })}
        />
      </div>
      <div className={classes.charts} data-old={isOld} aria-busy={isOld}>
        {measures.filter(isUsed).map((measure) => (
          <UsageChart key={measure.title} measure={measure} periods={periods} interval={request.interval} />
        ))}
      </div>
      <Unused unused={measures.filter((measure) => !isUsed(measure))} periods={periods} />
    </section>
  )
}

const list = new Intl.ListFormat('en', { type: 'disjunction' })

interface UnusedProps {
  unused: readonly Measure[]
  periods: readonly Period[]
}

function Unused({ unused, periods }: UnusedProps): ReactElement | null {
  if (unused.length === 0) return null
  if (unused.length === measures.length) {
    return <Empty title={`Nothing was used since ${periods[0]?.start}`} />
  }
  return <p className={classes.quiet}>No {list.format(unused.map(({ noun }) => noun))} in this time. Days are UTC.</p>
}
