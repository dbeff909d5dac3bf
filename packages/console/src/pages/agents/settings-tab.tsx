/** The settings of an agent. Only changed fields are sent. */
import type { Agent, AgentPatch } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactElement, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { useConfirm } from '../../components/confirm.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import type { Faults } from '../../components/faults/faults.ts'
import { useFaults } from '../../components/faults/use-faults.ts'
import { Checkbox, Select, TextArea, TextField } from '../../components/field.tsx'
import { layout } from '../../components/page.tsx'
import { SettingFields } from '../../components/settings/setting-fields.tsx'
import { useToast } from '../../components/toast.tsx'
import { queryKeys } from '../../query-keys.ts'
import { useClient, useRefusal } from '../../session/session.tsx'
import { type AgentDraft, draftOfAgent, patchOf, withType } from './agent-draft.ts'
import { agentName, agentTypeNames, agentTypes, keyField } from './agent-types.ts'
import classes from './agents.module.css'
import { BridgeNote } from './bridge-note.tsx'

interface SettingsTabProps {
  agent: Agent
}

export function SettingsTab({ agent }: SettingsTabProps): ReactElement {
  const client = useClient()
  const queryClient = useQueryClient()
  const toast = useToast()
  const refusal = useRefusal()('agents', 'write', agent.id)
  const [draft, setDraft] = useState(() => draftOfAgent(agent))
  const patch = patchOf(agent, draft)
  const isChanged = Object.keys(patch).length > 0
  const save = useMutation({
    mutationFn: (changes: AgentPatch) => client.agents.patch(agent.id, changes),
    onSuccess(changed) {
      queryClient.setQueryData(queryKeys.agents.one(agent.id), changed)
      void queryClient.invalidateQueries({ queryKey: queryKeys.agents.list })
      setDraft(draftOfAgent(changed))
      toast.say({ title: 'The agent was saved.' })
    },
  })
  const faults = useFaults(save.error)
  return (
    <div className={layout.form}>
      <form
        className={layout.form}
        onSubmit={(event) => {
          event.preventDefault()
          if (isChanged && !refusal) save.mutate(patch)
        }}
      >
        <AgentFields draft={draft} faults={faults.in()} onChange={setDraft} />
        <TypeFields draft={draft} faults={faults} onChange={setDraft} />
        <LimitFields draft={draft} faults={faults.in()} onChange={setDraft} />
        {save.error && <ErrorNote error={save.error} />}
        <div className={layout.row}>
          <Button
            variant="primary"
            type="submit"
            disabled={save.isPending || (!isChanged && !refusal)}
            disabledReason={refusal}
          >
            {save.isPending ? 'Saving …' : 'Save'}
          </Button>
          {isChanged && <Button onClick={() => setDraft(draftOfAgent(agent))}>Discard changes</Button>}
        </div>
      </form>
      <DeleteAgent agent={agent} refusal={refusal} />
    </div>
  )
}

interface FieldsProps<Faults> {
  draft: AgentDraft
  faults: Faults
  onChange(draft: AgentDraft): void
}
type NamedFaults = Readonly<Record<string, string>>

function AgentFields({ draft, faults, onChange }: FieldsProps<NamedFaults>): ReactElement {
  const set = (fields: Partial<AgentDraft>) => onChange({ ...draft, ...fields })
  return (
    <>
      <TextField label="Name" value={draft.name} error={faults.name} onChange={(name) => set({ name })} />
      <TextArea
        label="Description"
        value={draft.description}
        error={faults.description}
        onChange={(description) => set({ description })}
      />
      <Checkbox
        label="Enabled: questions are answered"
        isChecked={draft.enabled}
        onChange={(enabled) => set({ enabled })}
      />
      <Checkbox
        label="Keep inputs and outputs in the history, for 30 days"
        isChecked={draft.storeContent}
        onChange={(storeContent) => set({ storeContent })}
      />
      <Select
        label="Memory of conversations"
        hint="With it the server sends the last turns of a conversation to whoever answers."
        value={draft.memory}
        options={[
          { value: 'none', label: 'None: callers send earlier turns themselves' },
          { value: 'platform', label: 'The server keeps the last turns' },
        ]}
        onChange={(memory) => set({ memory })}
      />
    </>
  )
}

function TypeFields({ draft, faults, onChange }: FieldsProps<Faults>): ReactElement {
  const { config: fields, text, hasKey } = agentTypes[draft.type]
  return (
    <>
      <Select
        label="Who answers"
        hint={text}
        value={draft.type}
        options={agentTypeNames.map((value) => ({ value, label: agentTypes[value].label }))}
        onChange={(type) => onChange(withType(draft, type))}
      />
      {draft.type !== 'remote' && <BridgeNote />}
      <SettingFields
        fields={fields}
        draft={draft.config}
        faults={faults.in('config')}
        onChange={(config) => onChange({ ...draft, config })}
      />
      {hasKey && (
        <SettingFields
          fields={[{ ...keyField, hint: 'Leave empty to keep the one that is set, if there is one.' }]}
          draft={draft.secrets}
          faults={faults.in()}
          onChange={(secrets) => onChange({ ...draft, secrets })}
        />
      )}
    </>
  )
}

const limits = [
  ['maxConcurrency', 'Invocations at once', 'Over all workers and replicas. Empty: no limit.'],
  ['timeoutMs', 'First word within (ms)', 'Then the question fails with agent_timeout.'],
  ['idleTimeoutMs', 'Silence at most (ms)', 'Between two pieces of an answer.'],
  ['maxDurationMs', 'Whole answer within (ms)', undefined],
  ['model', 'Model', 'What answers are said to be by where the worker names none.'],
  ['datasetIds', 'Datasets that its tools may reach', 'Ids, one per line. Empty: all that the caller may see.'],
] as const

function LimitFields({ draft, faults, onChange }: FieldsProps<NamedFaults>): ReactElement {
  return (
    <details>
      <summary>Limits, model and datasets</summary>
      <div className={`${layout.form} ${classes.limits}`}>
        {limits.map(([name, label, hint]) => {
          const Control = name === 'datasetIds' ? TextArea : TextField
          return (
            <Control
              key={name}
              label={label}
              hint={hint}
              error={faults[name]}
              value={draft[name]}
              onChange={(value: string) => onChange({ ...draft, [name]: value })}
            />
          )
        })}
      </div>
    </details>
  )
}

interface DeleteAgentProps {
  agent: Agent
  refusal: string | undefined
}

function DeleteAgent({ agent, refusal }: DeleteAgentProps): ReactElement {
  const client = useClient()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const confirm = useConfirm()
  const toast = useToast()
  const remove = () =>
    confirm({
      title: `Delete ${agentName(agent)}?`,
      body: 'Its workers are disconnected, what runs ends with an error, and its history is deleted. Clients that ask it get agent_not_found.',
      action: 'Delete',
      async onConfirm() {
        await client.agents.delete(agent.id)
        await navigate({ to: '/agents' })
        queryClient.removeQueries({ queryKey: queryKeys.agents.one(agent.id) })
        await queryClient.invalidateQueries({ queryKey: queryKeys.agents.list })
        toast.say({ title: `${agentName(agent)} was deleted.` })
      },
    })
  return (
    <section className={layout.section}>
      <h2>Delete</h2>
      <div>
        <Button variant="danger" icon="trash" disabledReason={refusal} onClick={remove}>
          Delete agent
        </Button>
      </div>
    </section>
  )
}
