/** The console's entry point. First of all it removes a one-time sign-in token from the URL. */
import './styles/tokens.css'
import './styles/base.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { consoleUrl } from './address.ts'
import { App } from './app.tsx'
import { takeSignInToken } from './session/sign-in-token.ts'

// An absolute URL, because browsers resolve a relative icon again when the page's URL changes.
const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')
if (icon) icon.href = consoleUrl('logo.svg')

const root = document.getElementById('root')
const token = takeSignInToken()
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App signInToken={token} />
    </StrictMode>,
  )
}
