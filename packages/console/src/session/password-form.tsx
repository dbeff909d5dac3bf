/** Sign-in by e-mail and password, with password reset and sign-up. */
import { createClient } from '@graticule/client'
import { type FormEvent, type ReactElement, type ReactNode, useState } from 'react'
import { serverUrl } from '../address.ts'
import { Button } from '../components/button.tsx'
import { ErrorNote } from '../components/error-note.tsx'
import { TextField } from '../components/field.tsx'
import { Note } from '../components/note.tsx'
import { confirmPageUrl, resetPageUrl, signInLink } from './account-links.ts'
import { isGoodPassword, NewPassword, noPassword } from './new-password.tsx'
import { signInWithPassword } from './session-store.ts'
import classes from './sign-in.module.css'
import { StaySignedIn, type StaySignedInProps } from './stay-signed-in.tsx'

type Step = 'sign-in' | 'forgotten' | 'sign-up'

/** The storage key of the application's id, which is not secret. It comes from the sign-in link and is remembered. */
const applicationName = 'graticule.application'
const inLink = (name: string): string => new URLSearchParams(location.search).get(name) ?? ''
const initialApplication = (): string => inLink('application') || (localStorage.getItem(applicationName) ?? '')

export function PasswordForm({ staysSignedIn, onStaySignedIn }: StaySignedInProps): ReactElement {
  const [step, setStep] = useState<Step>('sign-in')
  const [email, setEmail] = useState('')
  const [applicationId, setApplicationId] = useState(initialApplication)
  const who = (
    <Who email={email} setEmail={setEmail} applicationId={applicationId} setApplicationId={setApplicationId} />
  )
  const steps: Record<Step, ReactElement> = {
    'sign-in': (
      <SignIn
        email={email}
        applicationId={applicationId}
        staysSignedIn={staysSignedIn}
        onStaySignedIn={onStaySignedIn}
        who={who}
      />
    ),
    forgotten: <Forgotten email={email} applicationId={applicationId} who={who} />,
    'sign-up': <SignUp email={email} applicationId={applicationId} who={who} />,
  }
  const others: [Step, string][] = [
    ['sign-in', 'Back to sign in'],
    ['forgotten', 'Forgot the password?'],
    ['sign-up', 'Sign up'],
  ]
  return (
    <>
      {steps[step]}
      <div className={classes.links}>
        {others
          .filter(([other]) => other !== step)
          .map(([other, label]) => (
            <button key={other} type="button" onClick={() => setStep(other)}>
              {label}
            </button>
          ))}
      </div>
    </>
  )
}

interface WhoProps {
  email: string
  setEmail(email: string): void
  applicationId: string
  setApplicationId(id: string): void
}

function Who({ email, setEmail, applicationId, setApplicationId }: WhoProps): ReactElement {
  return (
    <>
      {inLink('application') === '' && (
        <TextField
          label="Application"
          hint="Its id, from the link you were sent or from whoever runs it."
          value={applicationId}
          onChange={setApplicationId}
          spellCheck={false}
          required
        />
      )}
      <TextField label="E-mail" type="email" value={email} onChange={setEmail} autoComplete="username" required />
    </>
  )
}

/** Submits a form, one request at a time, and stores the error. */
function useSubmit(send: () => Promise<unknown>) {
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const [isDone, setDone] = useState(false)
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      await send()
      setDone(true)
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return { onSubmit, isBusy, isDone, error, note: error === null ? null : <ErrorNote error={error} /> }
}

interface StepProps {
  email: string
  applicationId: string
  who: ReactNode
}

function SignIn({
  email,
  applicationId,
  who,
  staysSignedIn,
  onStaySignedIn,
}: StepProps & StaySignedInProps): ReactElement {
  const [password, setPassword] = useState('')
  const { onSubmit, isBusy, note } = useSubmit(async () => {
    const login = { email: email.trim(), password, applicationId: applicationId.trim() }
    await signInWithPassword(login, staysSignedIn)
    localStorage.setItem(applicationName, login.applicationId)
  })
  return (
    <form onSubmit={onSubmit}>
      {who}
      <TextField
        label="Password"
        type="password"
        value={password}
        onChange={setPassword}
        autoComplete="current-password"
        required
      />
      <StaySignedIn staysSignedIn={staysSignedIn} onStaySignedIn={onStaySignedIn} />
      {note}
      <Button type="submit" variant="primary" disabled={isBusy}>
        {isBusy ? 'Signing in …' : 'Sign in'}
      </Button>
    </form>
  )
}

function Forgotten({ email, applicationId, who }: StepProps): ReactElement {
  const { onSubmit, isBusy, isDone, note } = useSubmit(() =>
    createClient(serverUrl).auth.requestPasswordReset({
      email: email.trim(),
      applicationId: applicationId.trim(),
      redirectUrl: resetPageUrl(applicationId.trim()),
    }),
  )
  if (isDone) return <Note kind="ok">If there is such an account, a mail with a link is on its way to {email}.</Note>
  return (
    <form onSubmit={onSubmit}>
      <p>A mail with a link lets you choose a new password.</p>
      {who}
      {note}
      <Button type="submit" variant="primary" disabled={isBusy}>
        Send me a link
      </Button>
    </form>
  )
}

function SignUp({ email, applicationId, who }: StepProps): ReactElement {
  const [firstName, setFirstName] = useState('')
  const [lastName, setLastName] = useState('')
  const [value, setValue] = useState(noPassword)
  const { password } = value
  const { onSubmit, isBusy, isDone, error, note } = useSubmit(() => {
    const redirectUrl = signInLink(applicationId.trim())
    const confirmUrl = confirmPageUrl()
    const person = { firstName, lastName, email: email.trim(), password, applicationId: applicationId.trim() }
    return createClient(serverUrl).auth.signup({ ...person, confirmUrl, redirectUrl })
  })
  if (isDone) return <Note kind="ok">A mail with a link is on its way to {email}. Open it to confirm the address.</Note>
  return (
    <form onSubmit={onSubmit}>
      {who}
      <TextField label="First name" value={firstName} onChange={setFirstName} autoComplete="given-name" required />
      <TextField label="Last name" value={lastName} onChange={setLastName} autoComplete="family-name" required />
      <NewPassword value={value} error={error} onChange={setValue} />
      {note}
      <Button type="submit" variant="primary" disabled={isBusy || !isGoodPassword(value)}>
        Sign up
      </Button>
    </form>
  )
}
