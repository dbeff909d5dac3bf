/** The dialog that creates or edits a contact point. Stored secrets are not shown; an empty field keeps its secret. */
import type { ContactPoint, ContactPointCreate, ContactPointPatch } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactElement, useId, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ErrorNote, faultOf } from '../../components/error-note.tsx'
import { Checkbox, Select, TextField } from '../../components/field.tsx'
import { layout } from '../../components/page.tsx'
import { SettingFields } from '../../components/settings/setting-fields.tsx'
import { draftOf, settingFaults, settingsOf } from '../../components/settings/setting-values.ts'
import { useToast } from '../../components/toast.tsx'
import { useClient } from '../../session/session.tsx'
import { useDrivers } from './contact-point-queries.ts'
import { type DriverName, drivers, isKnownDriver } from './drivers.ts'

export function ContactPointDialog({ point, onClose }: { point?: ContactPoint; onClose(): void }): ReactElement {
  const client = useClient()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const toast = useToast()
  const formId = useId()
  const { data: names = [] } = useDrivers()
  const [name, setName] = useState(point?.name ?? '')
  const [description, setDescription] = useState(point?.description ?? '')
  const [isEnabled, setEnabled] = useState(point?.enabled ?? true)
  const [type, setType] = useState<DriverName>(point?.type ?? 'webhook')
  const { fields } = drivers[type]
  const [settings, setSettings] = useState(() => draftOf(fields, point?.settings ?? {}))
  const save = useMutation({
    mutationFn() {
      const body = { name, description, enabled: isEnabled, settings: settingsOf(fields, settings) }
      return point
        ? client.contactPoints.patch(point.id, withRemovals(point, body) as ContactPointPatch)
        : client.contactPoints.create({ ...body, type } as ContactPointCreate)
    },
    async onSuccess({ id }) {
      await queryClient.invalidateQueries({ queryKey: ['contactpoints'] })
      onClose()
      toast.say({ title: point ? `${name} was saved.` : `${name} was made.` })
      if (!point) await navigate({ to: `/contact-points/${id}` })
    },
  })
  const faults = faultOf(save.error).fields
  const named = settingFaults(faults, 'body')
  const chooseType = (next: DriverName) => {
    setType(next)
    setSettings(draftOf(drivers[next].fields, {}))
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={point ? `Change ${point.name}` : 'New contact point'}
      actions={<Actions formId={formId} isNew={!point} isPending={save.isPending} onClose={onClose} />}
    >
      <form
        id={formId}
        className={layout.form}
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate()
        }}
      >
        <TextField label="Name" value={name} onChange={setName} error={named.name} required maxLength={255} />
        <TextField label="Description" value={description} onChange={setDescription} error={named.description} />
        <KindField type={type} isFixed={point !== undefined} names={names} onChange={chooseType} />
        <SettingFields
          fields={fields}
          draft={settings}
          stored={point?.secureFields}
          faults={settingFaults(faults, 'body/settings')}
          onChange={setSettings}
        />
        <Checkbox label="Enabled: messages are sent" isChecked={isEnabled} onChange={setEnabled} />
        {save.error && <ErrorNote error={save.error} />}
      </form>
    </Dialog>
  )
}

interface ActionsProps {
  formId: string
  isNew: boolean
  isPending: boolean
  onClose(): void
}

function Actions({ formId, isNew, isPending, onClose }: ActionsProps): ReactElement {
  return (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button variant="primary" type="submit" form={formId} disabled={isPending}>
        {isPending ? 'Saving …' : isNew ? 'Make contact point' : 'Save'}
      </Button>
    </>
  )
}

interface KindFieldProps {
  type: DriverName
  isFixed: boolean
  names: readonly string[]
  onChange(type: DriverName): void
}

/** The kind cannot be changed later, because the stored secrets belong to it. */
function KindField({ type, isFixed, names, onChange }: KindFieldProps): ReactElement {
  const known = names.filter(isKnownDriver)
  const options = (known.length > 0 ? known : [type]).map((value) => ({ value, label: drivers[value].label }))
  return (
    <Select
      label="Kind"
      value={type}
      options={options}
      disabled={isFixed}
      hint={isFixed ? 'To send elsewhere, make another contact point.' : undefined}
      onChange={onChange}
    />
  )
}

/** A merge patch keeps omitted members, so emptied fields are set to null. */
function withRemovals<Body extends { settings: Record<string, unknown> }>(point: ContactPoint, body: Body): Body {
  const emptied = Object.keys(point.settings).filter((name) => !(name in body.settings))
  return { ...body, settings: { ...body.settings, ...Object.fromEntries(emptied.map((name) => [name, null])) } }
}
