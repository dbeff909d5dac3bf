/** The form that declares a role, or changes one. */
import type { Role } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useFaults } from '../../../components/faults/use-faults.ts'
import { Segmented, TextField } from '../../../components/field.tsx'
import { FormDialog } from '../../../components/form-dialog.tsx'
import { useToast } from '../../../components/toast.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { useClient } from '../../../session/session.tsx'
import { patchOf, type RoleDraft, type RoleKind, roleOf } from './role-draft.ts'
import { RoleRights } from './role-rights.tsx'
import { type RoleUse, usersWith } from './role-use.ts'

interface RoleDialogProps {
  /** Null: a new one. */
  role: Role | null
  start: RoleDraft
  use: RoleUse | undefined
  onClose(): void
}

const kinds: { value: RoleKind; label: string }[] = [
  { value: 'name', label: 'Only a name, for rules' },
  { value: 'rights', label: 'Grants rights' },
]

/** The fields that show what is wrong with them. */
const shown = ['name', 'description']

export function RoleDialog({ role, start, use, onClose }: RoleDialogProps): ReactElement {
  const [draft, setDraft] = useState(start)
  const save = useSave(role, onClose)
  const faults = useFaults(save.error)
  const change = (part: Partial<RoleDraft>) => setDraft({ ...draft, ...part })
  return (
    <FormDialog
      title={role ? `Role “${role.name}”` : 'Declare a role'}
      kind="wide"
      onClose={onClose}
      labels={[role ? 'Save' : 'Declare', 'Saving …']}
      isPending={save.isPending}
      error={faults.areOf(shown) ? null : save.error}
      onSubmit={() => save.mutate(draft)}
    >
      <TextField
        label="Name"
        hint={nameHint(role, draft, use)}
        value={draft.name}
        error={faults.at('name')}
        maxLength={255}
        spellCheck={false}
        required
        onChange={(name) => change({ name })}
      />
      <TextField
        label="Description"
        value={draft.description}
        error={faults.at('description')}
        onChange={(description) => change({ description })}
      />
      <Segmented label="What it grants" value={draft.kind} options={kinds} onChange={(kind) => change({ kind })} />
      {draft.kind === 'rights' && (
        <RoleRights permissions={draft.permissions} onChange={(permissions) => change({ permissions })} />
      )}
    </FormDialog>
  )
}

function nameHint(role: Role | null, { name }: RoleDraft, use: RoleUse | undefined): string {
  if (!role || !use) return 'As it stands in the roles of users and of rules, letter by letter.'
  const users = usersWith(role.name, use)
  if (name === role.name || users === 'nobody') return `${users === 'nobody' ? 'Nobody' : users} so far.`
  return `Users (${users}) and rules keep the name “${role.name}”.`
}

function useSave(role: Role | null, onSaved: () => void) {
  const client = useClient()
  const queryClient = useQueryClient()
  const { say } = useToast()
  return useMutation({
    mutationFn: (draft: RoleDraft) =>
      role ? client.auth.roles.patch(role.id, patchOf(role, draft)) : client.auth.roles.create(roleOf(draft)),
    async onSuccess({ name }) {
      await queryClient.invalidateQueries({ queryKey: queryKeys.roles.all })
      say({ title: role ? 'Saved' : `The role “${name}” is declared` })
      onSaved()
    },
  })
}
