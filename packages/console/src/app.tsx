/** The console: providers around the router. The share page is the one page that needs no session. */
import { CSPProvider } from '@base-ui/react/csp-provider'
import { Tooltip } from '@base-ui/react/tooltip'
import { RouterProvider } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { ConfirmProvider } from './components/confirm.tsx'
import { ToastProvider } from './components/toast.tsx'
import { router } from './router.tsx'
import { SignInTokenContext } from './session/sign-in-page.tsx'

interface AppProps {
  signInToken: string | null
}

export function App({ signInToken }: AppProps): ReactElement {
  return (
    <CSPProvider disableStyleElements>
      <Tooltip.Provider delay={400}>
        <ToastProvider>
          <SignInTokenContext value={signInToken}>
            <ConfirmProvider>
              <RouterProvider router={router} />
            </ConfirmProvider>
          </SignInTokenContext>
        </ToastProvider>
      </Tooltip.Provider>
    </CSPProvider>
  )
}
