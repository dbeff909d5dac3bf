/** Sends a test message; the target's response appears in the log below. */
import type { ContactPoint, Message } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Select, TextArea, TextField } from '../../components/field.tsx'
import { layout } from '../../components/page.tsx'
import { queryKeys } from '../../query-keys.ts'
import { useClient, useRefusal } from '../../session/session.tsx'
import classes from './contact-points.module.css'

type Severity = NonNullable<Message['severity']>

const severities: readonly { value: Severity; label: string }[] = [
  { value: 'info', label: 'Info' },
  { value: 'success', label: 'Success' },
  { value: 'warning', label: 'Warning' },
  { value: 'error', label: 'Error' },
]

interface TestMessageProps {
  point: ContactPoint
  onSent(id: string): void
}

export function TestMessage({ point, onSent }: TestMessageProps): ReactElement {
  const client = useClient()
  const queryClient = useQueryClient()
  const refusal = useRefusal()('contactpoints', 'execute', point.id)
  const [title, setTitle] = useState('Test')
  const [message, setMessage] = useState('A test message from Graticule.')
  const [severity, setSeverity] = useState<Severity>('info')
  const send = useMutation({
    mutationFn: () => client.contactPoints.send(point.id, { ...(title ? { title } : {}), message, severity }),
    async onSuccess({ id }) {
      onSent(id)
      await queryClient.invalidateQueries({ queryKey: queryKeys.contactpoints.one(point.id, 'deliveries') })
    },
  })
  return (
    <form
      className={layout.section}
      onSubmit={(event) => {
        event.preventDefault()
        if (!refusal && point.enabled) send.mutate()
      }}
    >
      <h3>Send a test</h3>
      <div className={classes.pair}>
        <TextField label="Title" value={title} onChange={setTitle} maxLength={250} />
        <Select label="Severity" value={severity} options={severities} onChange={(next) => setSeverity(next)} />
      </div>
      <TextArea label="Message" value={message} onChange={setMessage} rows={2} required />
      {send.error && <ErrorNote error={send.error} />}
      <div>
        <Button
          icon="send"
          type="submit"
          disabled={send.isPending}
          disabledReason={refusal ?? (point.enabled ? undefined : 'This contact point is disabled. Enable it first.')}
        >
          {send.isPending ? 'Sending …' : 'Send'}
        </Button>
      </div>
    </form>
  )
}
