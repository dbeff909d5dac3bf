/** Dialogs that create an application (its first keys are shown once) and rename it. */
import type { Application, NewApplication } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { CodeBlock } from '../../components/copyable.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { useFaults } from '../../components/faults/use-faults.ts'
import { TextArea, TextField } from '../../components/field.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { layout } from '../../components/page.tsx'
import { useToast } from '../../components/toast.tsx'
import { queryKeys } from '../../query-keys.ts'
import { useSession } from '../../session/session.tsx'
import { chooseApplication } from '../../session/session-store.ts'

interface Draft {
  name: string
  description: string
  contact: string
  /** The address of its streets; empty for those of the installation. */
  basemap: string
}

const noDraft: Draft = { name: '', description: '', contact: '', basemap: '' }

/** As the server takes it. */
const recordOf = ({ basemap, ...draft }: Draft) => ({ ...draft, basemap: basemap.trim() || null })

interface NewApplicationDialogProps {
  onClose(): void
}

export function NewApplicationDialog({ onClose }: NewApplicationDialogProps): ReactElement {
  const { unscoped } = useSession()
  const queryClient = useQueryClient()
  const make = useMutation({
    mutationFn: (draft: Draft) => unscoped.applications.create(recordOf(draft)),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: queryKeys.applications.all }),
  })
  if (make.data) return <FirstKeys application={make.data} onClose={onClose} />
  return (
    <ApplicationForm
      title="New application"
      action="Make it"
      start={noDraft}
      error={make.error}
      isBusy={make.isPending}
      onSubmit={make.mutate}
      onClose={onClose}
    />
  )
}

interface FirstKeysProps {
  application: NewApplication
  onClose(): void
}

function FirstKeys({ application, onClose }: FirstKeysProps): ReactElement {
  const { id, name, keys } = application
  const actions = (
    <>
      <Button onClick={onClose}>Done</Button>
      <Button variant="primary" onClick={() => chooseApplication(id)}>
        Work in it
      </Button>
    </>
  )
  return (
    <Dialog isOpen onClose={onClose} title={`“${name}” is made`} actions={actions}>
      <div className={layout.section}>
        <p>Its first keys. Later they are in its list of keys.</p>
        <h3>Developer key: everything in this application</h3>
        <CodeBlock text={keys.developer} label="the developer key" />
        <h3>Public key: reads and queries data and shows maps, for web pages</h3>
        <CodeBlock text={keys.public} label="the public key" />
      </div>
    </Dialog>
  )
}

interface EditApplicationProps {
  application: Application
  onClose(): void
}

export function EditApplication({ application, onClose }: EditApplicationProps): ReactElement {
  const { unscoped } = useSession()
  const queryClient = useQueryClient()
  const { say } = useToast()
  const save = useMutation({
    mutationFn: (draft: Draft) => unscoped.applications.patch(application.id, recordOf(draft)),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: queryKeys.applications.all })
      say({ title: 'Saved' })
      onClose()
    },
  })
  const { name, description, contact, basemap } = application
  return (
    <ApplicationForm
      title={name}
      action="Save"
      start={{ name, description, contact, basemap: basemap ?? '' }}
      error={save.error}
      isBusy={save.isPending}
      onSubmit={save.mutate}
      onClose={onClose}
    />
  )
}

interface ApplicationFormProps {
  title: string
  action: string
  start: Draft
  error: unknown
  isBusy: boolean
  onSubmit(draft: Draft): void
  onClose(): void
}

function ApplicationForm(props: ApplicationFormProps): ReactElement {
  const { title, action, start, error, isBusy, onSubmit, onClose } = props
  const [draft, setDraft] = useState(start)
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part })
  const faults = useFaults(error)
  return (
    <FormDialog
      title={title}
      onClose={onClose}
      labels={[action, 'Working …']}
      isPending={isBusy}
      error={error}
      onSubmit={() => onSubmit(draft)}
    >
      <TextField
        label="Name"
        value={draft.name}
        error={faults.at('name')}
        required
        onChange={(name) => change({ name })}
      />
      <TextArea label="Description" value={draft.description} onChange={(description) => change({ description })} />
      <TextField
        label="Contact"
        hint="Whom to write to about it."
        value={draft.contact}
        error={faults.at('contact')}
        onChange={(contact) => change({ contact })}
      />
      <TextField
        label="Base map"
        hint="Streets below its maps: a PMTiles archive, such as https://example.org/streets.pmtiles, a TileJSON, or a server of tiles. Empty: as the installation has it."
        value={draft.basemap}
        error={faults.at('basemap')}
        onChange={(basemap) => change({ basemap })}
      />
    </FormDialog>
  )
}
