/** The actions of a user. */
import type { User, UserPatch } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { IconButton } from '../../../components/button.tsx'
import { useConfirm } from '../../../components/confirm.tsx'
import { Menu } from '../../../components/popup/menu.tsx'
import { useToast } from '../../../components/toast.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useRefusal, useSession } from '../../../session/session.tsx'
import { useActivityItem } from '../../activity/activity-item.ts'
import { EditUser, ResetLinkDialog } from './user-dialogs.tsx'

interface UserMenuProps {
  user: User
}

export function UserMenu({ user }: UserMenuProps): ReactElement {
  const [open, setOpen] = useState<'edit' | 'reset' | null>(null)
  const change = useChange(user)
  const remove = useRemoval(user)
  const { access } = useSession()
  const refusal = useRefusal()('users', 'write', user.id)
  const isSelf = access.user?.id === user.id ? 'This is you: ask somebody else.' : undefined
  const { enabled, emailVerified, email } = user
  const activity = useActivityItem({ user: Number(user.id) })
  return (
    <>
      <Menu
        trigger={<IconButton icon="more" label={`Actions of ${email}`} />}
        items={[
          { label: 'Edit …', icon: 'edit', disabledReason: refusal, onSelect: () => setOpen('edit') },
          {
            label: 'Send a link for a password …',
            icon: 'mail',
            disabledReason: enabled ? undefined : 'The user is disabled.',
            onSelect: () => setOpen('reset'),
          },
          ...(emailVerified
            ? []
            : [
                {
                  label: 'Confirm the address',
                  icon: 'check' as const,
                  disabledReason: refusal,
                  onSelect: () => change({ emailVerified: true }, `${email} counts as confirmed`),
                },
              ]),
          {
            label: enabled ? 'Disable' : 'Enable',
            icon: enabled ? 'stop' : 'play',
            disabledReason: refusal ?? isSelf,
            onSelect: () => change({ enabled: !enabled }, `${email} is ${enabled ? 'disabled' : 'enabled'}`),
          },
          activity,
          '-',
          { label: 'Delete …', icon: 'trash', isDanger: true, disabledReason: refusal ?? isSelf, onSelect: remove },
        ]}
      />
      {open === 'edit' && <EditUser user={user} onClose={() => setOpen(null)} />}
      {open === 'reset' && <ResetLinkDialog user={user} onClose={() => setOpen(null)} />}
    </>
  )
}

/** Changes fields at once, without confirmation, because the changes can be reverted. */
function useChange(user: User): (values: UserPatch, title: string) => void {
  const client = useClient()
  const queryClient = useQueryClient()
  const { say, fail } = useToast()
  const { mutate } = useMutation({
    mutationFn: ({ values }: { values: UserPatch; title: string }) => client.auth.users.patch(user.id, values),
    onSuccess: (_, { title }) => say({ title }),
    onError: (error) => fail('The user was not changed', error),
    onSettled: () => queryClient.invalidateQueries({ queryKey: queryKeys.users.all }),
  })
  return (values, title) => mutate({ values, title })
}

function useRemoval({ id, email }: User): () => void {
  const client = useClient()
  const queryClient = useQueryClient()
  const confirm = useConfirm()
  const { say } = useToast()
  return () =>
    confirm({
      title: `Delete ${email}?`,
      body: <p>They are signed out at once and cannot sign in again. Keys of type “user” that are theirs go too.</p>,
      action: 'Delete',
      async onConfirm() {
        await client.auth.users.delete(id)
        await queryClient.invalidateQueries({ queryKey: queryKeys.users.all })
        say({ title: `${email} is deleted` })
      },
    })
}
