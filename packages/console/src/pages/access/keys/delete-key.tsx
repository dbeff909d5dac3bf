/** Deletes a key after a confirmation that describes the consequences. */
import type { ApiKey } from '@graticule/client'
import { useQueryClient } from '@tanstack/react-query'
import { useConfirm } from '../../../components/confirm.tsx'
import { layout } from '../../../components/page.tsx'
import { useToast } from '../../../components/toast.tsx'
import { formatRelative } from '../../../format.ts'
import { queryKeys } from '../../../query-keys.ts'
import { useClient } from '../../../session/session.tsx'
import { signOut } from '../../../session/session-store.ts'
import { aclSentence } from '../acl/acl-sentence.ts'
import { useDefaultKey } from './default-key.ts'

export function useDeleteKey(): (key: ApiKey) => void {
  const client = useClient()
  const confirm = useConfirm()
  const { say } = useToast()
  const queryClient = useQueryClient()
  const defaultKey = useDefaultKey()
  return (key) => {
    const isOwnKey = client.apiKey === key.id
    confirm({
      title: `Delete the key “${key.description || 'without a name'}”?`,
      action: 'Delete',
      body: (
        <div className={layout.section}>
          <p>Whatever uses it stops working at once. It cannot be brought back.</p>
          <p>
            {aclSentence(key.permissions)} {lastUse(key)}
          </p>
          {defaultKey === key.id && <p>Users’ tokens stand for it: without it they cannot do anything.</p>}
          {isOwnKey && (
            <p>
              <strong>You are signed in with this key: deleting it signs you out.</strong>
            </p>
          )}
        </div>
      ),
      async onConfirm() {
        await client.apiKeys.delete(key.id)
        if (isOwnKey) return signOut()
        await queryClient.invalidateQueries({ queryKey: queryKeys.apikeys.all })
        say({ title: 'The key is deleted' })
      },
    })
  }
}

const lastUse = ({ lastUsedAt }: ApiKey): string =>
  lastUsedAt === null ? 'It was never used.' : `It was last used ${formatRelative(lastUsedAt)}.`
