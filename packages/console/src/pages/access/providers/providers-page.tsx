/** The providers (OpenID Connect) that users of an application sign in by. */
import type { OidcProvider } from '@graticule/client'
import { type ReactElement, useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { ErrorNote } from '../../../components/error-note.tsx'
import { Empty, Skeleton } from '../../../components/note.tsx'
import { layout, Page } from '../../../components/page.tsx'
import { useToast } from '../../../components/toast.tsx'
import { formatNumber } from '../../../format.ts'
import { useRefusal } from '../../../session/session.tsx'
import { AccessTabs, useMissingApplication } from '../access-tabs.tsx'
import { ProviderDialog } from './provider-dialog.tsx'
import { ProviderList } from './provider-list.tsx'
import { ProviderSetupDialog } from './provider-setup-dialog.tsx'
import { useProviders } from './providers.ts'

export function ProvidersPage(): ReactElement {
  const [form, setForm] = useState<{ provider: OidcProvider | null } | null>(null)
  const [shown, setShown] = useState<OidcProvider | null>(null)
  const { data: providers, error, refetch } = useProviders()
  const { say } = useToast()
  const refusal = useRefusal()
  const missing = useMissingApplication()
  const hidden = missing ?? refusal('users', 'read')
  const add = (
    <Button
      variant="primary"
      icon="plus"
      disabledReason={missing ?? refusal('users', 'write')}
      onClick={() => setForm({ provider: null })}
    >
      New provider
    </Button>
  )
  return (
    <Page title="Sign-in" facts={providers && factsOf(providers)} actions={add} tabs={<AccessTabs />}>
      {hidden && (
        <Empty title="The sign-in providers of an application are shown here">
          <p>{hidden}</p>
        </Empty>
      )}
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!providers && !error && !hidden && <ProvidersSkeleton />}
      {providers?.length === 0 && <NoProviders />}
      {providers && providers.length > 0 && (
        <ProviderList providers={providers} onEdit={(provider) => setForm({ provider })} onSetup={setShown} />
      )}
      {form && (
        <ProviderDialog
          provider={form.provider}
          onClose={() => setForm(null)}
          onSaved={(provider) => {
            setForm(null)
            if (form.provider) say({ title: 'Saved' })
            else setShown(provider)
          }}
        />
      )}
      {shown && <ProviderSetupDialog provider={shown} onClose={() => setShown(null)} />}
    </Page>
  )
}

function factsOf(providers: readonly OidcProvider[]): string {
  const off = providers.filter(({ enabled }) => !enabled).length
  const count = `${formatNumber(providers.length)} ${providers.length === 1 ? 'provider' : 'providers'}`
  return off > 0 ? `${count} · ${formatNumber(off)} disabled` : count
}

function NoProviders(): ReactElement {
  return (
    <Empty title="No sign-in providers yet">
      <p>
        Users sign in with e-mail and password. With a provider (OpenID Connect: Keycloak, Entra ID, Google, Auth0, Okta
        and others) they sign in with the account that they have there.
      </p>
    </Empty>
  )
}

function ProvidersSkeleton(): ReactElement {
  return (
    <div className={layout.section}>
      {[1, 2].map((row) => (
        <Skeleton key={row} height={36} />
      ))}
    </div>
  )
}
