/** The form that connects a database or edits a connection, drawn from what its driver declares. Errors are shown at their fields. */
import type {
  Database,
  DatabaseCreate,
  DatabaseDraft as DatabaseDraftBody,
  DatabaseDriver,
  DatabasePatch,
  DatabaseTest,
} from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { useFaults } from '../../components/faults/use-faults.ts'
import { Checkbox, Select, TextField } from '../../components/field.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { Note, Skeleton } from '../../components/note.tsx'
import { useToast } from '../../components/toast.tsx'
import { formatMs } from '../../format.ts'
import { useClient, useMay } from '../../session/session.tsx'
import { type ConnectionDraft, createOf, draftOf, missingOf, newDraft, patchOf } from './database-draft.ts'
import { DriverFields } from './driver-fields.tsx'
import type { DriverForm } from './driver-form.ts'
import { useDrivers } from './use-drivers.ts'

export interface DatabaseFormProps {
  /** Null: a new one. */
  stored: Database | null
  onClose(): void
  onSaved(database: Database): void
}

const titleOf = (stored: Database | null): string => (stored ? `Edit “${stored.name}”` : 'Connect a database')

export function DatabaseForm(props: DatabaseFormProps): ReactElement {
  const { drivers, isLoading, error } = useDrivers()
  const { stored, onClose } = props
  if (drivers || (stored && !isLoading)) return <LoadedForm {...props} drivers={drivers ?? []} />
  const missing = 'The kinds of database are not known.'
  return (
    <FormDialog
      title={titleOf(stored)}
      kind="wide"
      onClose={onClose}
      missing={missing}
      labels={[stored ? 'Save' : 'Connect', 'Saving …']}
      isPending={false}
      onSubmit={() => {}}
    >
      {error ? <ErrorNote error={error} /> : isLoading ? <Skeleton height={240} /> : <NoDriver />}
    </FormDialog>
  )
}

/** The form of a database whose driver is not known: only what all databases have. */
const bareForm: DriverForm = { fields: [] }

function LoadedForm({
  stored,
  drivers,
  onClose,
  onSaved,
}: DatabaseFormProps & { drivers: readonly DatabaseDriver[] }): ReactElement {
  const [type, setType] = useState(stored?.type ?? drivers[0]?.name ?? '')
  const driver = drivers.find(({ name }) => name === type)
  const form = driver ?? bareForm
  const mayTest = useMayTest()
  const [draft, setDraft] = useState<ConnectionDraft>(() => (stored ? draftOf(form, stored) : newDraft(form)))
  const change = (changes: Partial<ConnectionDraft>) => setDraft((old) => ({ ...old, ...changes }))
  const changes = stored ? patchOf(form, draft, stored) : {}
  const isTestable = mayTest && driver?.isPlatform === false && (!stored || isOfConnection(changes))
  const send = (isTested: boolean) =>
    mutate({
      body: stored ? changes : createOf(type, form, draft),
      test: isTested && isTestable ? { ...createOf(type, form, draft), ...(stored && { id: stored.id }) } : null,
    })
  const { mutate, isPending, error } = useSave(stored, onSaved)
  const failed = error instanceof NotConnected ? error.test : null
  const faults = useFaults(error)
  const faultAt = (name: string) => faults.at(pathOf(name))
  const choose = (next: string) => {
    const { way, values } = newDraft(drivers.find(({ name }) => name === next) ?? bareForm)
    setType(next)
    change({ way, values })
  }
  return (
    <FormDialog
      title={titleOf(stored)}
      kind="wide"
      onClose={onClose}
      labels={[stored ? 'Save' : 'Connect', isTestable ? 'Trying the connection …' : 'Saving …']}
      isPending={isPending}
      missing={missingOf(form, draft, stored)}
      error={failed || faults.areOf(shownPaths(form, draft)) ? null : error}
      onSubmit={() => send(true)}
    >
      <TextField
        label="Name"
        value={draft.name}
        maxLength={255}
        error={faultAt('name')}
        onChange={(name) => change({ name })}
      />
      {!stored && (
        <Select
          label="Kind"
          value={type}
          options={drivers.map(({ name, title }) => ({ value: name, label: title }))}
          onChange={choose}
        />
      )}
      {driver ? (
        <DriverFields form={form} draft={draft} stored={stored} faultAt={faultAt} onChange={setDraft} />
      ) : (
        <NoDriver />
      )}
      <TextField
        label="Description"
        value={draft.description}
        maxLength={10_000}
        error={faultAt('description')}
        onChange={(description) => change({ description })}
      />
      <Checkbox
        label={defaultLabel(driver)}
        isChecked={draft.isDefault}
        disabled={stored?.default ?? false}
        onChange={(isDefault) => change({ isDefault })}
      />
      {failed && <FailedTest test={failed} onSave={() => send(false)} />}
    </FormDialog>
  )
}

/** A driver names its field `metadata.ssl`, an error of the server `metadata/ssl`. */
const pathOf = (name: string): string => name.replaceAll('.', '/')

const shownPaths = ({ fields }: DriverForm, { way }: ConnectionDraft): string[] => [
  'name',
  'description',
  ...fields.filter((field) => (field.way ?? way) === way).map((field) => pathOf(field.name)),
]

const defaultLabel = (driver: DatabaseDriver | undefined): string =>
  driver?.isWritable === false
    ? 'Default: used where no database is named. Uploads that name none then fail, because it is only read'
    : 'Default: used where no database is named, and for uploads'

const NoDriver = (): ReactElement => (
  <Note>
    How such a database is connected is not known here: this server does not have its driver, or this key may not list
    drivers (execute on databases).
  </Note>
)

function useMayTest(): boolean {
  const may = useMay()
  return may('databases', 'write') && may('databases', 'execute')
}

/** Of what says nothing of the connection there is nothing to try. */
const isOfConnection = ({ name: _, description: __, default: ___, ...rest }: DatabasePatch): boolean =>
  Object.keys(rest).length > 0

/** The connection was tried, and nothing was saved. */
class NotConnected extends Error {
  readonly test: DatabaseTest

  constructor(test: DatabaseTest) {
    super(test.error?.message ?? 'The connection failed.')
    this.test = test
  }
}

interface FailedTestProps {
  test: DatabaseTest
  onSave(): void
}

function FailedTest({ test: { error, latencyMs }, onSave }: FailedTestProps): ReactElement {
  return (
    <Note kind="danger">
      <p role="alert">
        Nothing is saved: {error?.message ?? 'the connection failed.'} (after {formatMs(latencyMs)})
      </p>
      <Button onClick={onSave}>Save anyway</Button>
    </Note>
  )
}

interface Saving {
  body: DatabaseCreate | DatabasePatch
  /** What is tried before; null: nothing. */
  test: DatabaseDraftBody | null
}

function useSave(stored: Database | null, onSaved: (database: Database) => void) {
  const client = useClient()
  const cache = useQueryClient()
  const { say } = useToast()
  return useMutation({
    async mutationFn({ body, test }: Saving) {
      const tried = test && (await client.databases.testDraft(test))
      if (tried && !tried.ok) throw new NotConnected(tried)
      return stored ? client.databases.patch(stored.id, body) : client.databases.create(body as DatabaseCreate)
    },
    async onSuccess(database) {
      await cache.invalidateQueries({ queryKey: ['databases'] })
      say({ title: `“${database.name}” is saved` })
      onSaved(database)
    },
  })
}
