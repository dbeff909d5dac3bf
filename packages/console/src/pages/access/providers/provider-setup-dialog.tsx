/** What to do with a provider: register this server's address at it, and sign in by it on a page. No form: nothing is sent. */
import type { OidcProvider } from '@graticule/client'
import type { ReactElement } from 'react'
import { Button } from '../../../components/button.tsx'
import { CodeBlock } from '../../../components/copyable.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { layout } from '../../../components/page.tsx'
import { redirectAddress } from './providers.ts'

interface ProviderSetupDialogProps {
  provider: OidcProvider
  onClose(): void
}

export function ProviderSetupDialog({ provider, onClose }: ProviderSetupDialogProps): ReactElement {
  const { id, name } = provider
  const done = (
    <Button variant="primary" onClick={onClose}>
      Done
    </Button>
  )
  return (
    <Dialog isOpen onClose={onClose} title={`Use “${name}”`} kind="wide" actions={done}>
      <div className={layout.section}>
        <h3>1. Register this redirect address at the provider</h3>
        <CodeBlock text={redirectAddress(id)} label="the redirect address" />
        <p>As this page reaches the server. If pages reach it by another address, register that one, too.</p>
        <h3>2. Allow the page that people return to</h3>
        <p>
          In the tab “Sign-up”, under “Where mail may lead”. While nothing is listed there, this server and this machine
          are allowed, and nothing else.
        </p>
        <h3>3. Sign in on that page</h3>
        <CodeBlock text={snippetOf(id)} label="the code" />
      </div>
    </Dialog>
  )
}

const snippetOf = (id: string): string => `await client.auth.completeSignIn() // when the page is loaded
signInButton.onclick = () =>
  client.auth.signInWithProvider('${id}')`
