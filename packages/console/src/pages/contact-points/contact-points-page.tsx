/** The page of contact points: the list, and the selected one with its test message and delivery log. */
import type { ContactPoint } from '@graticule/client'
import { useParams } from '@tanstack/react-router'
import { type ReactElement, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Empty, Skeleton, StatusDot } from '../../components/note.tsx'
import { Columns, layout, Page } from '../../components/page.tsx'
import { RecordList } from '../../components/records/record-list.tsx'
import { formatRelative } from '../../format.ts'
import { useRefusal } from '../../session/session.tsx'
import { ContactPointDialog } from './contact-point-dialog.tsx'
import { useContactPoints } from './contact-point-queries.ts'
import { ContactPointRecord } from './contact-point-record.tsx'
import { drivers } from './drivers.ts'

export function ContactPointsPage(): ReactElement {
  const { contactPointId } = useParams({ from: '/shell/contact-points/{-$contactPointId}' })
  const { data: points, error, refetch } = useContactPoints()
  const [isNew, setNew] = useState(false)
  const refusal = useRefusal()
  const chosen = points?.find(({ id }) => id === contactPointId)
  return (
    <Page
      title="Contact points"
      facts={points && (points.length === 1 ? '1 place for messages' : `${points.length} places for messages`)}
      {...(contactPointId ? { back: { to: '/contact-points', label: 'All contact points' } } : {})}
      isPadded={false}
      actions={
        <Button
          variant="primary"
          icon="plus"
          disabledReason={refusal('contactpoints', 'write')}
          onClick={() => setNew(true)}
        >
          New contact point
        </Button>
      }
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {points?.length === 0 && <NoContactPoints />}
      {points?.length !== 0 && !error && (
        <Columns
          hint="Choose a contact point to send a test and see its deliveries."
          list={points ? <RecordList label="Contact points" items={points.map(itemOf)} /> : <Skeleton height={240} />}
          record={contactPointId ? <Chosen point={chosen} isLoaded={points !== undefined} /> : null}
        />
      )}
      {isNew && <ContactPointDialog onClose={() => setNew(false)} />}
    </Page>
  )
}

interface ChosenProps {
  point: ContactPoint | undefined
  isLoaded: boolean
}

function Chosen({ point, isLoaded }: ChosenProps): ReactElement {
  if (point) return <ContactPointRecord key={point.id} point={point} />
  if (!isLoaded) return <Skeleton height={240} />
  return (
    <Empty title="There is no such contact point">
      <p>It may have been deleted, or this key may not see it.</p>
    </Empty>
  )
}

function NoContactPoints(): ReactElement {
  return (
    <div className={layout.padded}>
      <Empty title="No contact points yet">
        <p>
          A contact point is a place for messages: a chat channel, e-mail addresses, a web service of yours. Set it up
          once; whoever has a key that may execute it can send, and never sees its secrets.
        </p>
      </Empty>
    </div>
  )
}

const itemOf = (point: ContactPoint) => ({
  id: point.id,
  to: `/contact-points/${point.id}`,
  title: point.name,
  aside: <LastDelivery point={point} />,
  text: `${drivers[point.type].label}${point.description && ` · ${point.description}`}`,
})

interface LastDeliveryProps {
  point: ContactPoint
}

function LastDelivery({ point }: LastDeliveryProps): ReactElement {
  if (!point.enabled) return <StatusDot kind="off">disabled</StatusDot>
  if (!point.lastStatus) return <span>never sent</span>
  return (
    <StatusDot kind={point.lastStatus === 'delivered' ? 'ok' : 'danger'}>
      {point.lastDeliveryAt ? formatRelative(point.lastDeliveryAt) : point.lastStatus}
    </StatusDot>
  )
}
