/**
 * The target page of links in sign-up mails. It confirms the address and shows the result; the server's own operation would
 * show JSON for a used link. The token is removed from the URL at once.
 */
import { createClient } from '@graticule/client'
import { type ReactElement, useEffect, useRef, useState } from 'react'
import { consoleUrl, serverUrl } from '../../address.ts'
import { Button, LinkButton } from '../../components/button.tsx'
import { Note } from '../../components/note.tsx'
import classes from '../../session/sign-in.module.css'
import { Logo } from '../../shell/logo.tsx'

interface Link {
  token: string
  email: string
  /** The page to continue to. */
  redirect: string
}

function readLink(): Link {
  const parameters = new URLSearchParams(location.search)
  const read = (name: string): string => parameters.get(name) ?? ''
  return { token: read('token'), email: read('email'), redirect: read('redirect') }
}

type State = 'working' | 'confirmed' | 'refused' | 'unreachable'

/** The server responds to a valid link with a redirect; it is not followed, since it only tells success. */
async function confirm(link: Link): Promise<State> {
  try {
    const response = await fetch(createClient(serverUrl).auth.confirmSignupUrl({ ...link }), { redirect: 'manual' })
    return response.type === 'opaqueredirect' ? 'confirmed' : 'refused'
  } catch {
    return 'unreachable'
  }
}

export function ConfirmPage(): ReactElement {
  const [link] = useState(readLink)
  const [state, setState] = useState<State>('working')
  const sent = useRef(false)
  const send = () => {
    setState('working')
    void confirm(link).then(setState)
  }
  useEffect(() => {
    // A token works once, so it is sent once, even if the effect runs again.
    if (sent.current) return
    sent.current = true
    document.title = 'Confirm the address · Graticule'
    history.replaceState(history.state, '', location.pathname)
    void confirm(link).then(setState)
  }, [link])
  return (
    <main className={classes.page}>
      <div className={classes.panel}>
        <h1 className={classes.name}>
          <Logo size={32} />
          Graticule
        </h1>
        <Outcome state={state} link={link} onRetry={send} />
      </div>
    </main>
  )
}

interface OutcomeProps {
  state: State
  link: Link
  onRetry(): void
}

function Outcome({ state, link, onRetry }: OutcomeProps): ReactElement {
  if (state === 'working') return <p role="status">Confirming the address …</p>
  if (state === 'unreachable') {
    return (
      <>
        <Note kind="danger">The server cannot be reached. Is it running?</Note>
        <Button onClick={onRetry}>Try again</Button>
      </>
    )
  }
  return (
    <>
      {state === 'confirmed' ? (
        <Note kind="ok">The address {link.email} is confirmed. Sign in with the password that you chose.</Note>
      ) : (
        <Note kind="warn">
          This link was used already, or has expired. If the address is confirmed, sign in; otherwise sign up again for
          another link.
        </Note>
      )}
      <LinkButton variant="primary" href={consolePage(link.redirect)}>
        Sign in
      </LinkButton>
    </>
  )
}

/** The sign-in link of the URL, if it belongs to this console; prevents open redirects. */
function consolePage(address: string): string {
  const start = consoleUrl('')
  return address === start || address.startsWith(`${start}?`) ? address : start
}
