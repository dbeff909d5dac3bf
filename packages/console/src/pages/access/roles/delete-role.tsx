/** Deletes a role after a question that says who keeps its name. */
import type { Role } from '@graticule/client'
import { useQueryClient } from '@tanstack/react-query'
import { useConfirm } from '../../../components/confirm.tsx'
import { layout } from '../../../components/page.tsx'
import { useToast } from '../../../components/toast.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { useClient } from '../../../session/session.tsx'
import { grantsOfRole } from './role-grants.ts'
import { type RoleUse, usersWith } from './role-use.ts'

export function useDeleteRole(): (role: Role, use: RoleUse) => void {
  const client = useClient()
  const confirm = useConfirm()
  const { say } = useToast()
  const queryClient = useQueryClient()
  return (role, use) =>
    confirm({
      title: `Delete the role “${role.name}”?`,
      action: 'Delete',
      body: (
        <div className={layout.section}>
          <p>{whoKeeps(role.name, use)}</p>
          {role.permissions && <p>What it granted ends at once: {lowerFirst(grantsOfRole(role))}</p>}
        </div>
      ),
      async onConfirm() {
        await client.auth.roles.delete(role.id)
        await queryClient.invalidateQueries({ queryKey: queryKeys.roles.all })
        say({ title: `The role “${role.name}” is deleted` })
      },
    })
}

function whoKeeps(name: string, use: RoleUse): string {
  const users = usersWith(name, use)
  if (users === 'nobody') return 'Nobody has it. Rules of datasets that ask for it stay as they are.'
  const keeps = users === '1 user' ? 'keeps' : 'keep'
  return `${users[0]?.toUpperCase()}${users.slice(1)} ${keeps} the bare name, and rules of datasets still ask for it.`
}

const lowerFirst = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1)}`
