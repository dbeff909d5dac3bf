/** The dialog that creates an agent: name, type and the type's settings. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactElement, useId, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ErrorNote, faultOf } from '../../components/error-note.tsx'
import { Select, TextField } from '../../components/field.tsx'
import { layout } from '../../components/page.tsx'
import { SettingFields } from '../../components/settings/setting-fields.tsx'
import { draftOf, type SettingDraft, settingFaults, settingsOf } from '../../components/settings/setting-values.ts'
import { useClient } from '../../session/session.tsx'
import { type AgentType, agentTypeNames, agentTypes, keyField, newAgent } from './agent-types.ts'
import { BridgeNote } from './bridge-note.tsx'

export function NewAgentDialog({ onClose }: { onClose(): void }): ReactElement {
  const client = useClient()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const formId = useId()
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [type, setType] = useState<AgentType>('remote')
  const [config, setConfig] = useState<SettingDraft>({})
  const [secrets, setSecrets] = useState<SettingDraft>({ apiKey: '' })
  const { config: fields, hasKey, text } = agentTypes[type]
  const make = useMutation({
    mutationFn: () => {
      const apiKey = hasKey ? String(secrets.apiKey ?? '') : ''
      return client.agents.create(newAgent({ name, description, type, config: settingsOf(fields, config), apiKey }))
    },
    async onSuccess({ id }) {
      await queryClient.invalidateQueries({ queryKey: ['agents', 'list'] })
      onClose()
      await navigate({
        to: '/agents/$agentId/$tab',
        params: { agentId: id, tab: type === 'remote' ? 'connect' : 'playground' },
      })
    },
  })
  const { fields: faults } = faultOf(make.error)
  const named = settingFaults(faults, 'body')
  const chooseType = (next: AgentType) => {
    setType(next)
    setConfig(draftOf(agentTypes[next].config, settingsOf(fields, config)))
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="New agent"
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={formId} disabled={make.isPending}>
            {make.isPending ? 'Making …' : 'Make agent'}
          </Button>
        </>
      }
    >
      <form
        id={formId}
        className={layout.form}
        onSubmit={(event) => {
          event.preventDefault()
          make.mutate()
        }}
      >
        <TextField label="Name" value={name} onChange={setName} error={named.name} required maxLength={255} autoFocus />
        <TextField label="Description" value={description} onChange={setDescription} error={named.description} />
        <Select
          label="Who answers"
          hint={text}
          value={type}
          options={agentTypeNames.map((value) => ({ value, label: agentTypes[value].label }))}
          onChange={chooseType}
        />
        {type !== 'remote' && <BridgeNote />}
        <SettingFields
          fields={fields}
          draft={config}
          faults={settingFaults(faults, 'body/config')}
          onChange={setConfig}
        />
        {hasKey && (
          <SettingFields
            fields={[keyField]}
            draft={secrets}
            faults={settingFaults(faults, 'body/secrets')}
            onChange={setSecrets}
          />
        )}
        {make.error && <ErrorNote error={make.error} />}
      </form>
    </Dialog>
  )
}
