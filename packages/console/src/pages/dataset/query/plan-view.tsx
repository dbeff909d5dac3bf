/** The query plan as a tree; the widest bar is the most expensive node. */
import type { Dataset } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import type { CSSProperties, ReactElement } from 'react'
import { ErrorNote } from '../../../components/error-note.tsx'
import { Note, Skeleton } from '../../../components/note.tsx'
import { layout } from '../../../components/page.tsx'
import { formatNumber, formatRows } from '../../../format.ts'
import { queryKeys } from '../../../query-keys.ts'
import { useClient } from '../../../session/session.tsx'
import classes from './plan.module.css'
import { type PlanStep, readPlan } from './plan-tree.ts'
import type { SentQuery } from './query-session.ts'

interface PlanViewProps {
  dataset: Dataset
  sent: SentQuery
}

export function PlanView({ dataset, sent }: PlanViewProps): ReactElement {
  const client = useClient()
  const { query, parameters, timeoutMs } = sent
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.datasets.one(dataset.id, 'plan', query, parameters),
    queryFn: ({ signal }) =>
      client.datasets.query(dataset.id, query, { ...parameters, explain: true, timeout: timeoutMs, signal }),
  })
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={160} />
  return <PlanSteps plan={data.plan} attributes={dataset.attributes} />
}

interface PlanStepsProps {
  plan: unknown
  attributes: Parameters<typeof readPlan>[1]
}

export function PlanSteps({ plan, attributes }: PlanStepsProps): ReactElement {
  const { steps, totalCost, note } = readPlan(plan, attributes)
  if (note) return <Note>{note}</Note>
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
      tabIndex={0}
      aria-label="Plan"
      className={`${classes.plan} ${layout.section}`}
    >
      <p className={classes.facts}>
        {totalCost === undefined
          ? 'This dataset reads tables that are not shown to you, so the plan has the kinds of steps only.'
          : `Expected cost ${formatNumber(totalCost)}, in units of reading one page. The figures are the planner’s estimates; nothing was carried out.`}
      </p>
      <ol className={classes.steps}>
        {steps.map((step) => (
          <Step key={step.key} step={step} />
        ))}
      </ol>
    </section>
  )
}

interface StepProps {
  step: PlanStep
}

function Step({ step }: StepProps): ReactElement {
  const { title, depth, details, rows, cost, share, hint } = step
  const style = { '--depth': depth, '--share': `${Math.round(share * 100)}%` } as CSSProperties
  return (
    <li className={classes.step} style={style}>
      <div className={classes.head}>
        <strong>{title}</strong>
        <span className={classes.figures}>
          {rows !== undefined && formatRows(rows)}
          {cost !== undefined && ` · cost ${formatNumber(cost)}`}
        </span>
      </div>
      {cost !== undefined && (
        <div className={classes.bar}>
          <span />
        </div>
      )}
      {details.map(({ label, text }) => (
        <p key={label + text} className={classes.detail}>
          {label} <code>{text}</code>
        </p>
      ))}
      {hint && <Note kind="warn">{hint}</Note>}
    </li>
  )
}
