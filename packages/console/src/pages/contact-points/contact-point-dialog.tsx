/** The dialog that creates or edits a contact point. Stored secrets are not shown; an empty field keeps its secret. */
import type { ContactPoint, ContactPointCreate, ContactPointPatch } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactElement, useState } from 'react'
import { useFaults } from '../../components/faults/use-faults.ts'
import { Checkbox, Select, TextField } from '../../components/field.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { SettingFields } from '../../components/settings/setting-fields.tsx'
import { draftOf, settingsOf } from '../../components/settings/setting-values.ts'
import { useToast } from '../../components/toast.tsx'
import { queryKeys } from '../../query-keys.ts'
import { useClient } from '../../session/session.tsx'
import { useDrivers } from './contact-point-queries.ts'
import { type DriverName, drivers, isKnownDriver } from './drivers.ts'

interface ContactPointDialogProps {
  point?: ContactPoint
  onClose(): void
}

export function ContactPointDialog({ point, onClose }: ContactPointDialogProps): ReactElement {
  const client = useClient()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const toast = useToast()
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
      await queryClient.invalidateQueries({ queryKey: queryKeys.contactpoints.all })
      onClose()
      toast.say({ title: point ? `${name} was saved.` : `${name} was made.` })
      if (!point) await navigate({ to: `/contact-points/${id}` })
    },
  })
  const faults = useFaults(save.error)
  const chooseType = (next: DriverName) => {
    setType(next)
    setSettings(draftOf(drivers[next].fields, {}))
  }
  return (
    <FormDialog
      title={point ? `Change ${point.name}` : 'New contact point'}
      onClose={onClose}
      labels={[point ? 'Save' : 'Make contact point', 'Saving …']}
      isPending={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate()}
    >
      <TextField label="Name" value={name} onChange={setName} error={faults.at('name')} required maxLength={255} />
      <TextField label="Description" value={description} onChange={setDescription} error={faults.at('description')} />
      <KindField type={type} isFixed={point !== undefined} names={names} onChange={chooseType} />
      <SettingFields
        fields={fields}
        draft={settings}
        stored={point?.secureFields}
        faults={faults.in('settings')}
        onChange={setSettings}
      />
      <Checkbox label="Enabled: messages are sent" isChecked={isEnabled} onChange={setEnabled} />
    </FormDialog>
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
  const types = names.filter(isKnownDriver)
  const options = (types.length > 0 ? types : [type]).map((value) => ({ value, label: drivers[value].label }))
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
