/** The deliveries of a contact point in the last 30 days, with every attempt and the target's response. */
import type { ContactPoint, Delivery } from '@graticule/client'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useEffect } from 'react'
import { ErrorNote } from '../../components/error-note.tsx'
import { Skeleton, StatusDot } from '../../components/note.tsx'
import { layout } from '../../components/page.tsx'
import { formatDate, formatMs, formatRelative } from '../../format.ts'
import { queryKeys } from '../../query-keys.ts'
import { useDeliveries } from './contact-point-queries.ts'
import classes from './contact-points.module.css'

const dots = { pending: 'warn', delivered: 'ok', failed: 'danger' } as const

interface DeliveryLogProps {
  point: ContactPoint
  sentId: string | undefined
}

export function DeliveryLog({ point, sentId }: DeliveryLogProps): ReactElement {
  const { data: deliveries, error, refetch } = useDeliveries(point.id)
  const queryClient = useQueryClient()
  const latest = deliveries?.[0]
  const ended = latest && latest.status !== 'pending' ? latest.id : undefined
  // The list on the left shows the outcome of the last delivery.
  useEffect(() => {
    if (ended) void queryClient.invalidateQueries({ queryKey: queryKeys.contactpoints.list })
  }, [ended, queryClient])
  return (
    <section className={layout.section}>
      <h3>Deliveries</h3>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!deliveries && !error && <Skeleton height={80} />}
      {deliveries?.length === 0 && <p className={classes.quiet}>Nothing was sent in the last 30 days.</p>}
      {deliveries && deliveries.length > 0 && (
        <table className={layout.list}>
          <thead>
            <tr>
              <th>Sent</th>
              <th>Status</th>
              <th>Answers</th>
            </tr>
          </thead>
          <tbody>
            {deliveries.map((delivery) => (
              <DeliveryRow key={delivery.id} delivery={delivery} isMine={delivery.id === sentId} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

interface DeliveryRowProps {
  delivery: Delivery
  isMine: boolean
}

function DeliveryRow({ delivery, isMine }: DeliveryRowProps): ReactElement {
  const { createdAt, status, attempts } = delivery
  return (
    <tr>
      <td title={formatDate(createdAt)}>
        {formatRelative(createdAt)}
        {isMine && <div className={classes.quiet}>your test</div>}
      </td>
      <td>
        <StatusDot kind={dots[status]}>{status}</StatusDot>
      </td>
      <td>
        {attempts.length === 0 && <span className={classes.quiet}>on its way</span>}
        <ol>
          {attempts.map((attempt) => (
            <li key={attempt.at} className={classes.attempt}>
              <Attempt attempt={attempt} createdAt={createdAt} />
            </li>
          ))}
        </ol>
        {status === 'pending' && attempts.length > 0 && <span className={classes.quiet}>will be tried again</span>}
      </td>
    </tr>
  )
}

interface AttemptProps {
  attempt: Delivery['attempts'][number]
  createdAt: string
}

function Attempt({ attempt: { at, statusCode, error }, createdAt }: AttemptProps): ReactElement {
  const after = Math.max(0, new Date(at).getTime() - new Date(createdAt).getTime())
  return (
    <>
      {statusCode !== undefined && <code>{statusCode}</code>}{' '}
      {error ?? (statusCode === undefined ? 'taken' : 'accepted')}{' '}
      <span className={classes.quiet} title={formatDate(at)}>
        after {formatMs(after)}
      </span>
    </>
  )
}
