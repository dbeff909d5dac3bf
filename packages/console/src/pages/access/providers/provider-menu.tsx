/** The actions of a provider. */
import type { OidcProvider } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { IconButton } from '../../../components/button.tsx'
import { useConfirm } from '../../../components/confirm.tsx'
import { Menu } from '../../../components/popup/menu.tsx'
import { useToast } from '../../../components/toast.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useRefusal } from '../../../session/session.tsx'
import { useActivityItem } from '../../activity/activity-item.ts'

interface ProviderMenuProps {
  provider: OidcProvider
  onEdit(): void
  onSetup(): void
}

export function ProviderMenu({ provider, onEdit, onSetup }: ProviderMenuProps): ReactElement {
  const refusal = useRefusal()('users', 'write')
  const { mutate, mutateAsync } = useEnabling(provider)
  const disable = useDisabling(provider, () => mutateAsync(false))
  const remove = useRemoval(provider)
  const activity = useActivityItem({ kind: 'oidcproviders', record: provider.id })
  const toggle = provider.enabled
    ? { label: 'Disable …', icon: 'stop' as const, onSelect: disable }
    : { label: 'Enable', icon: 'play' as const, onSelect: () => mutate(true) }
  return (
    <Menu
      trigger={<IconButton icon="more" label={`Actions of ${provider.name}`} />}
      items={[
        { label: 'Edit …', icon: 'edit', disabledReason: refusal, onSelect: onEdit },
        { label: 'Redirect address and code …', icon: 'link', onSelect: onSetup },
        { ...toggle, disabledReason: refusal },
        activity,
        '-',
        { label: 'Delete …', icon: 'trash', isDanger: true, disabledReason: refusal, onSelect: remove },
      ]}
    />
  )
}

function useEnabling({ id, name }: OidcProvider) {
  const client = useClient()
  const queryClient = useQueryClient()
  const { say, fail } = useToast()
  return useMutation({
    mutationFn: (enabled: boolean) => client.auth.providers.patch(id, { enabled }),
    onSuccess: async ({ enabled }) => {
      await queryClient.invalidateQueries({ queryKey: queryKeys.oidcproviders.all })
      say({ title: `${name} is ${enabled ? 'enabled' : 'disabled'}` })
    },
    onError: (error) => fail(`${name} was not changed`, error),
  })
}

/** Asks before, because sessions end. */
function useDisabling({ name }: OidcProvider, onConfirm: () => Promise<unknown>): () => void {
  const confirm = useConfirm()
  return () =>
    confirm({
      title: `Disable ${name}?`,
      body: (
        <p>Nobody comes by it any more, and the sessions that came by it end. Enabled again, people sign in again.</p>
      ),
      action: 'Disable',
      onConfirm,
    })
}

function useRemoval({ id, name }: OidcProvider): () => void {
  const client = useClient()
  const queryClient = useQueryClient()
  const confirm = useConfirm()
  const { say } = useToast()
  return () =>
    confirm({
      title: `Delete ${name}?`,
      body: (
        <p>
          The sessions that came by it end. Its users stay, but those without a password cannot sign in any more, and
          another provider does not know them. It cannot be brought back: to stop it for a while, disable it.
        </p>
      ),
      action: 'Delete',
      async onConfirm() {
        await client.auth.providers.delete(id)
        await queryClient.invalidateQueries({ queryKey: queryKeys.oidcproviders.all })
        say({ title: `${name} is deleted` })
      },
    })
}
