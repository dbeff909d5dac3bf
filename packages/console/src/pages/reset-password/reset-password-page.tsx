/**
 * The target page of links in reset mails: sets a new password and signs in. The token is removed from the URL at once, so
 * that neither the history nor a copied link contains it.
 */
import { ApiError, createClient } from '@graticule/client'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, type ReactElement, useEffect, useState } from 'react'
import { serverUrl } from '../../address.ts'
import { Button, LinkButton } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { useFaults } from '../../components/faults/use-faults.ts'
import { Note } from '../../components/note.tsx'
import { resetPageUrl, signInLink } from '../../session/account-links.ts'
import { isGoodPassword, NewPassword, noPassword } from '../../session/new-password.tsx'
import { signInWithPassword } from '../../session/session-store.ts'
import classes from '../../session/sign-in.module.css'
import { Logo } from '../../shell/logo.tsx'

interface Link {
  applicationId: string
  email: string
  token: string
}

function readLink(): Link {
  const parameters = new URLSearchParams(location.search)
  const read = (name: string): string => parameters.get(name) ?? ''
  return { applicationId: read('application'), email: read('email'), token: read('token') }
}

export function ResetPasswordPage(): ReactElement {
  const [link] = useState(readLink)
  useEffect(() => {
    document.title = 'New password · Graticule'
    history.replaceState(history.state, '', location.pathname)
  }, [])
  const isWhole = link.applicationId !== '' && link.email !== '' && link.token !== ''
  return (
    <main className={classes.page}>
      <div className={classes.panel}>
        <h1 className={classes.name}>
          <Logo size={32} />
          Graticule
        </h1>
        {isWhole ? <PasswordStep link={link} /> : <IncompleteLink link={link} />}
      </div>
    </main>
  )
}

type Outcome = { kind: 'refused' } | { kind: 'failed'; error: unknown } | { kind: 'set'; error: unknown } | null

interface PasswordStepProps {
  link: Link
}

function PasswordStep({ link }: PasswordStepProps): ReactElement {
  const { email, applicationId, token } = link
  const [value, setValue] = useState(noPassword)
  const [isBusy, setBusy] = useState(false)
  const [outcome, setOutcome] = useState<Outcome>(null)
  const navigate = useNavigate()
  const send = async () => {
    const { password } = value
    await createClient(serverUrl).auth.resetPassword({ email, password, applicationId, token })
    // The password is changed at this point, even if signing in fails.
    await signInWithPassword({ email, password, applicationId }, false).then(
      () => navigate({ to: '/', replace: true }),
      (error) => setOutcome({ kind: 'set', error }),
    )
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setOutcome(null)
    send()
      .catch((error) => setOutcome(isRefused(error) ? { kind: 'refused' } : { kind: 'failed', error }))
      .finally(() => setBusy(false))
  }
  const error = outcome?.kind === 'failed' ? outcome.error : null
  const faults = useFaults(error)
  if (outcome?.kind === 'set') return <PasswordSet link={link} error={outcome.error} />
  if (outcome?.kind === 'refused') return <AnotherLink link={link} />
  return (
    <form onSubmit={submit}>
      <p>Choose a new password for {email}. All sessions end, and this page signs you in.</p>
      {/* Tells password managers whose password it is. */}
      <input type="hidden" name="username" autoComplete="username" value={email} />
      <NewPassword value={value} error={error} onChange={setValue} />
      {error !== null && faults.isEmpty && <ErrorNote error={error} />}
      <Button type="submit" variant="primary" disabled={isBusy || !isGoodPassword(value)}>
        {isBusy ? 'Saving …' : 'Save and sign in'}
      </Button>
    </form>
  )
}

const isRefused = (error: unknown): boolean => error instanceof ApiError && error.status === 401

interface PasswordSetProps {
  link: Link
  error: unknown
}

function PasswordSet({ link, error }: PasswordSetProps): ReactElement {
  return (
    <>
      <Note kind="ok">The new password counts. Signing in did not work:</Note>
      <ErrorNote error={error} />
      <LinkButton variant="primary" href={signInLink(link.applicationId)}>
        Go to sign in
      </LinkButton>
    </>
  )
}

interface AnotherLinkProps {
  link: Link
}

/** Requests another link, because links work once and for an hour. */
function AnotherLink({ link }: AnotherLinkProps): ReactElement {
  const { email, applicationId } = link
  const [state, setState] = useState<'asked' | { error: unknown } | null>(null)
  const ask = () =>
    createClient(serverUrl)
      .auth.requestPasswordReset({ email, applicationId, redirectUrl: resetPageUrl(applicationId) })
      .then(() => setState('asked'))
      .catch((error) => setState({ error }))
  if (state === 'asked') {
    return <Note kind="ok">If there is such an account, a mail with a new link is on its way to {email}.</Note>
  }
  return (
    <>
      <Note kind="danger">This link was used already, or has expired. Ask for another.</Note>
      {state && <ErrorNote error={state.error} />}
      <Button variant="primary" icon="mail" onClick={() => void ask()}>
        Send me another link
      </Button>
      <LinkButton href={signInLink(applicationId)}>Back to sign in</LinkButton>
    </>
  )
}

interface IncompleteLinkProps {
  link: Link
}

function IncompleteLink({ link }: IncompleteLinkProps): ReactElement {
  return (
    <>
      <Note kind="warn">This link is not complete. Open it from the mail again, or ask for another one.</Note>
      <LinkButton href={signInLink(link.applicationId)}>Back to sign in</LinkButton>
    </>
  )
}
