/** The form that adds a provider, or changes one. */
import type { OidcProvider } from '@graticule/client'
import { ApiError } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useFaults } from '../../../components/faults/use-faults.ts'
import { Checkbox } from '../../../components/field.tsx'
import { FormDialog } from '../../../components/form-dialog.tsx'
import { Note } from '../../../components/note.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { useClient } from '../../../session/session.tsx'
import { AdmissionFields } from './admission-fields.tsx'
import { ClaimFields } from './claim-fields.tsx'
import { ConnectionFields } from './connection-fields.tsx'
import { draftOf, emptyProvider, type ProviderDraft, patchOf, providerOf } from './provider-draft.ts'
import { TokenFields } from './token-fields.tsx'

interface ProviderDialogProps {
  /** Null: a new one. */
  provider: OidcProvider | null
  onSaved(provider: OidcProvider): void
  onClose(): void
}

/** The fields that show what is wrong with them. */
const shown = ['name', 'issuer', 'clientId', 'clientSecret', 'scopes', 'mapping', 'emailDomains', 'audience']

export function ProviderDialog({ provider, onSaved, onClose }: ProviderDialogProps): ReactElement {
  const [draft, setDraft] = useState(() => (provider ? draftOf(provider) : emptyProvider))
  const save = useSave(provider, onSaved)
  const faults = useFaults(save.error)
  const fields = { draft, faults, onChange: (part: Partial<ProviderDraft>) => setDraft({ ...draft, ...part }) }
  return (
    <FormDialog
      title={provider ? `Edit “${provider.name}”` : 'New sign-in provider'}
      kind="wide"
      onClose={onClose}
      labels={[provider ? 'Save' : 'Add provider', 'Saving …']}
      isPending={save.isPending}
      error={faults.areOf(shown) ? null : save.error}
      onSubmit={() => save.mutate(draft)}
    >
      <ConnectionFields {...fields} provider={provider} />
      <AdmissionFields {...fields} />
      <ClaimFields {...fields} />
      <TokenFields {...fields} />
      <Checkbox
        role="switch"
        label="Enabled. Switched off, nobody comes by it, and the sessions that came by it end."
        isChecked={draft.isEnabled}
        onChange={(isEnabled) => fields.onChange({ isEnabled })}
      />
      {isRefusal(save.error) && (
        <Note>
          A provider signs users in. So whoever writes one must be able to do all that their tokens can: what the
          default keys of users and of the application may, and what all roles grant. Sign in with a key that can.
        </Note>
      )}
    </FormDialog>
  )
}

const isRefusal = (error: unknown): boolean => error instanceof ApiError && error.status === 401

function useSave(provider: OidcProvider | null, onSaved: (provider: OidcProvider) => void) {
  const client = useClient()
  const queryClient = useQueryClient()
  const { providers } = client.auth
  return useMutation({
    mutationFn: (draft: ProviderDraft) =>
      provider ? providers.patch(provider.id, patchOf(provider, draft)) : providers.create(providerOf(draft)),
    async onSuccess(saved) {
      await queryClient.invalidateQueries({ queryKey: queryKeys.oidcproviders.all })
      onSaved(saved)
    },
  })
}
