/** The datasets whose changes a webhook is told of. */
import type { ContactPoint } from '@graticule/client'
import { Link } from '@tanstack/react-router'
import { type ReactElement, useState } from 'react'
import { Button, IconButton } from '../../components/button.tsx'
import { useConfirm } from '../../components/confirm.tsx'
import { Copyable } from '../../components/copyable.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Skeleton, StatusDot } from '../../components/note.tsx'
import { layout } from '../../components/page.tsx'
import { useToast } from '../../components/toast.tsx'
import { useRefusal } from '../../session/session.tsx'
import { BindingDialog } from './binding-dialog.tsx'
import { type Binding, describeBinding } from './binding-draft.ts'
import { useBind, useBindings, useTables } from './binding-queries.ts'
import classes from './contact-points.module.css'

const mostBindings = 20

interface BindingsProps {
  point: ContactPoint
}

export function Bindings({ point }: BindingsProps): ReactElement {
  const { data: bindings, error, refetch } = useBindings(point.id)
  const { data: tables = [] } = useTables()
  const refusal = useRefusal()('contactpoints', 'write', point.id)
  /** The dataset whose binding is edited; empty for a new one. */
  const [edited, setEdited] = useState<string | null>(null)
  const nameOf = (id: string) => tables.find((table) => table.id === id)?.name
  const isFull = (bindings?.length ?? 0) >= mostBindings
  return (
    <section className={layout.section} aria-labelledby="bindings">
      <h3 id="bindings">Changes of datasets</h3>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!bindings && !error && <Skeleton height={60} />}
      {bindings?.length === 0 && (
        <p className={classes.quiet}>
          Not told of any. A dataset of type table can be bound to this webhook, which then gets a message whenever rows
          change.
        </p>
      )}
      {bindings && bindings.length > 0 && (
        <ul className={classes.bindings}>
          {bindings.map((binding) => (
            <BindingItem
              key={binding.datasetId}
              point={point}
              binding={binding}
              refusal={refusal}
              name={nameOf(binding.datasetId)}
              onEdit={() => setEdited(binding.datasetId)}
            />
          ))}
        </ul>
      )}
      <div>
        <Button
          icon="plus"
          disabledReason={refusal ?? (isFull ? `A contact point has ${mostBindings} bindings at most.` : undefined)}
          onClick={() => setEdited('')}
        >
          Bind a dataset
        </Button>
      </div>
      {edited !== null && bindings && (
        <BindingDialog
          point={point}
          bindings={bindings}
          tables={tables}
          datasetId={edited}
          onClose={() => setEdited(null)}
        />
      )}
    </section>
  )
}

interface BindingItemProps {
  point: ContactPoint
  binding: Binding
  /** Undefined if this key cannot read the dataset. */
  name: string | undefined
  refusal: string | undefined
  onEdit(): void
}

function BindingItem({ point, binding, name, refusal, onEdit }: BindingItemProps): ReactElement {
  const { datasetId, lastEventId } = binding
  const title = name ?? datasetId
  return (
    <li className={classes.binding}>
      <div>
        <Link to="/data/$datasetId" params={{ datasetId }}>
          {title}
        </Link>
        <p>{describeBinding(binding)}</p>
        <BindingState point={point} binding={binding} />
        <Copyable text={lastEventId} label={`the last event of ${title}`} before="Told up to" />
      </div>
      <span>
        <IconButton icon="edit" label={`Change the binding of ${title}`} disabledReason={refusal} onClick={onEdit} />
        <RemoveButton point={point} datasetId={datasetId} title={title} refusal={refusal} />
      </span>
    </li>
  )
}

function BindingState({ point, binding: { problem } }: Pick<BindingItemProps, 'point' | 'binding'>): ReactElement {
  if (problem) return <StatusDot kind="warn">{problem}</StatusDot>
  if (!point.enabled) return <StatusDot kind="off">waits until the contact point is enabled</StatusDot>
  return <StatusDot kind="ok">followed</StatusDot>
}

interface RemoveButtonProps {
  point: ContactPoint
  datasetId: string
  title: string
  refusal: string | undefined
}

function RemoveButton({ point, datasetId, title, refusal }: RemoveButtonProps): ReactElement {
  const confirm = useConfirm()
  const toast = useToast()
  const bind = useBind(point.id)
  const remove = () =>
    confirm({
      title: `Remove the binding of ${title}?`,
      body: `${point.name} is no longer told of its changes. What waits to be told is dropped; the dataset stays as it is.`,
      action: 'Remove',
      async onConfirm() {
        await bind.mutateAsync({ datasetId, binding: null })
        toast.say({ title: `The binding of ${title} was removed.` })
      },
    })
  return <IconButton icon="trash" label={`Remove the binding of ${title}`} disabledReason={refusal} onClick={remove} />
}
