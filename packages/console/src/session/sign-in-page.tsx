/** The sign-in page: by key, by e-mail and password, or by the one-time token of the link in the start banner. */
import { createContext, type ReactElement, use, useEffect, useRef, useState } from 'react'
import { Button } from '../components/button.tsx'
import { ErrorNote } from '../components/error-note.tsx'
import { Checkbox, Segmented, TextField } from '../components/field.tsx'
import { Logo } from '../shell/logo.tsx'
import { PasswordForm } from './password-form.tsx'
import { signInWithKey, signInWithLink } from './session-store.ts'
import classes from './sign-in.module.css'
import { StaySignedIn, type StaySignedInProps, useStaysSignedIn } from './stay-signed-in.tsx'

export const SignInTokenContext = createContext<string | null>(null)

type Way = 'key' | 'password'

export function SignInPage(): ReactElement {
  const [way, setWay] = useState<Way>(location.search.includes('application=') ? 'password' : 'key')
  const [staysSignedIn, chooseToStay] = useStaysSignedIn()
  const link = useLinkSignIn()
  useEffect(() => {
    document.title = 'Sign in · Graticule'
  }, [])
  return (
    <main className={classes.page}>
      <div className={classes.panel}>
        <h1 className={classes.name}>
          <Logo size={32} />
          Graticule
        </h1>
        {link.isBusy ? (
          <p role="status">Signing you in …</p>
        ) : (
          <>
            {link.error !== null && <ErrorNote error={link.error} />}
            <Segmented<Way>
              label="Sign in with"
              value={way}
              onChange={setWay}
              options={[
                { value: 'key', label: 'API key', icon: 'access' },
                { value: 'password', label: 'E-mail', icon: 'mail' },
              ]}
            />
            {way === 'key' ? (
              <KeyForm staysSignedIn={staysSignedIn} onStaySignedIn={chooseToStay} />
            ) : (
              <PasswordForm staysSignedIn={staysSignedIn} onStaySignedIn={chooseToStay} />
            )}
          </>
        )}
      </div>
    </main>
  )
}

/** A token works once, so it is sent once, even if the effect runs again. */
function useLinkSignIn(): { isBusy: boolean; error: unknown } {
  const token = use(SignInTokenContext)
  const sent = useRef(false)
  const [state, setState] = useState<{ isBusy: boolean; error: unknown }>({ isBusy: token !== null, error: null })
  useEffect(() => {
    if (token === null || sent.current) return
    sent.current = true
    signInWithLink(token).catch((error) => setState({ isBusy: false, error }))
  }, [token])
  return state
}

function KeyForm({ staysSignedIn, onStaySignedIn }: StaySignedInProps): ReactElement {
  const [key, setKey] = useState('')
  const [isShown, setShown] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const send = async () => {
    setBusy(true)
    setError(null)
    try {
      await signInWithKey(key.trim(), staysSignedIn)
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <TextField
        label="API key"
        type={isShown ? 'text' : 'password'}
        value={key}
        onChange={setKey}
        autoComplete="off"
        spellCheck={false}
        required
        autoFocus
      />
      <Checkbox label="Show the key" isChecked={isShown} onChange={setShown} />
      <StaySignedIn staysSignedIn={staysSignedIn} onStaySignedIn={onStaySignedIn} />
      {error !== null && <ErrorNote error={error} />}
      <Button type="submit" variant="primary" disabled={isBusy || key.trim() === ''}>
        {isBusy ? 'Signing in …' : 'Sign in'}
      </Button>
      <p className={classes.help}>
        Where is my key? <code>npm start -- keys</code> prints the keys of this installation.
      </p>
    </form>
  )
}
