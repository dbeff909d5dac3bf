/** The details of a contact point: settings, a test message, bound datasets, and the delivery log. */
import type { ContactPoint } from '@graticule/client'
import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ReactElement, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { useConfirm } from '../../components/confirm.tsx'
import { Note } from '../../components/note.tsx'
import { layout } from '../../components/page.tsx'
import { useToast } from '../../components/toast.tsx'
import { queryKeys } from '../../query-keys.ts'
import { useClient, useRefusal } from '../../session/session.tsx'
import { Bindings } from './bindings.tsx'
import { ContactPointDialog } from './contact-point-dialog.tsx'
import classes from './contact-points.module.css'
import { DeliveryLog } from './delivery-log.tsx'
import { drivers } from './drivers.ts'
import { TestMessage } from './test-message.tsx'

interface ContactPointRecordProps {
  point: ContactPoint
}

export function ContactPointRecord({ point }: ContactPointRecordProps): ReactElement {
  const [isEdited, setEdited] = useState(false)
  const [sentId, setSentId] = useState<string | undefined>()
  const refusal = useRefusal()('contactpoints', 'write', point.id)
  return (
    <div className={`${layout.padded} ${classes.record}`}>
      <div className={classes.head}>
        <h2>{point.name}</h2>
        <Button icon="edit" disabledReason={refusal} onClick={() => setEdited(true)}>
          Change
        </Button>
        <DeleteButton point={point} refusal={refusal} />
      </div>
      {point.description && <p>{point.description}</p>}
      <Facts point={point} />
      {!point.enabled && <Note kind="warn">This contact point is disabled: messages to it are refused.</Note>}
      <TestMessage point={point} onSent={setSentId} />
      {point.type === 'webhook' && <Bindings point={point} />}
      <DeliveryLog point={point} sentId={sentId} />
      {isEdited && <ContactPointDialog point={point} onClose={() => setEdited(false)} />}
    </div>
  )
}

interface FactsProps {
  point: ContactPoint
}

function Facts({ point }: FactsProps): ReactElement {
  const { fields, label } = drivers[point.type]
  return (
    <dl className={layout.definitions}>
      <dt>Kind</dt>
      <dd>{label}</dd>
      {fields.map((field) => {
        const value = point.settings[field.name]
        const isStored = point.secureFields[field.name] === true
        if (value === undefined && !isStored) return null
        return (
          <FactRow
            key={field.name}
            term={field.label}
            value={isStored ? 'set, not shown' : Array.isArray(value) ? value.join(', ') : String(value)}
          />
        )
      })}
      {point.type === 'email' && (
        <FactRow term="Without SMTP" value={<Link to="/outbox/{-$mailId}">mail is kept in the outbox</Link>} />
      )}
    </dl>
  )
}

interface FactRowProps {
  term: string
  value: ReactElement | string
}

function FactRow({ term, value }: FactRowProps): ReactElement {
  return (
    <>
      <dt>{term}</dt>
      <dd>{value}</dd>
    </>
  )
}

interface DeleteButtonProps {
  point: ContactPoint
  refusal: string | undefined
}

function DeleteButton({ point, refusal }: DeleteButtonProps): ReactElement {
  const client = useClient()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const confirm = useConfirm()
  const toast = useToast()
  const remove = () =>
    confirm({
      title: `Delete ${point.name}?`,
      body: 'Messages that still wait are not sent, its delivery log and its secrets are gone, and whoever sends to it gets 404.',
      action: 'Delete',
      async onConfirm() {
        await client.contactPoints.delete(point.id)
        await navigate({ to: '/contact-points/{-$contactPointId}', params: { contactPointId: undefined } })
        await queryClient.invalidateQueries({ queryKey: queryKeys.contactpoints.list })
        toast.say({ title: `${point.name} was deleted.` })
      },
    })
  return (
    <Button variant="danger" icon="trash" disabledReason={refusal} onClick={remove}>
      Delete
    </Button>
  )
}
