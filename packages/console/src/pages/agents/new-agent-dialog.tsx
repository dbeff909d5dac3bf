/** The dialog that creates an agent: name, type and the type's settings. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactElement, useState } from 'react'
import { useFaults } from '../../components/faults/use-faults.ts'
import { Select, TextField } from '../../components/field.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { SettingFields } from '../../components/settings/setting-fields.tsx'
import { draftOf, type SettingDraft, settingsOf } from '../../components/settings/setting-values.ts'
import { queryKeys } from '../../query-keys.ts'
import { useClient } from '../../session/session.tsx'
import { type AgentType, agentTypeNames, agentTypes, keyField, newAgent } from './agent-types.ts'
import { BridgeNote } from './bridge-note.tsx'

interface NewAgentDialogProps {
  onClose(): void
}

export function NewAgentDialog({ onClose }: NewAgentDialogProps): ReactElement {
  const client = useClient()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
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
      await queryClient.invalidateQueries({ queryKey: queryKeys.agents.list })
      onClose()
      await navigate({
        to: '/agents/$agentId/$tab',
        params: { agentId: id, tab: type === 'remote' ? 'connect' : 'playground' },
      })
    },
  })
  const faults = useFaults(make.error)
  const chooseType = (next: AgentType) => {
    setType(next)
    setConfig(draftOf(agentTypes[next].config, settingsOf(fields, config)))
  }
  return (
    <FormDialog
      title="New agent"
      onClose={onClose}
      labels={['Make agent', 'Making …']}
      isPending={make.isPending}
      error={make.error}
      onSubmit={() => make.mutate()}
    >
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        error={faults.at('name')}
        required
        maxLength={255}
        autoFocus
      />
      <TextField label="Description" value={description} onChange={setDescription} error={faults.at('description')} />
      <Select
        label="Who answers"
        hint={text}
        value={type}
        options={agentTypeNames.map((value) => ({ value, label: agentTypes[value].label }))}
        onChange={chooseType}
      />
      {type !== 'remote' && <BridgeNote />}
      <SettingFields fields={fields} draft={config} faults={faults.in('config')} onChange={setConfig} />
      {hasKey && (
        <SettingFields fields={[keyField]} draft={secrets} faults={faults.in('secrets')} onChange={setSecrets} />
      )}
    </FormDialog>
  )
}
