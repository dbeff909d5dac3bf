import type { Client } from '@graticule/client'
import { type FormEvent, useState } from 'react'

type Props = { client: Client; applicationId: string; onSignedIn: () => void }

export function SignIn({ client, applicationId, onSignedIn }: Props) {
  const [isPending, setPending] = useState(false)
  const [problem, setProblem] = useState('')

  async function signIn(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    setPending(true)
    try {
      const [email, password] = [String(form.get('email')), String(form.get('password'))]
      await client.auth.login({ email, password, applicationId })
      onSignedIn()
    } catch (error) {
      setProblem((error as Error).message)
      setPending(false)
    }
  }

  return (
    <form className="sign-in" onSubmit={signIn}>
      <h1>Sign in</h1>
      <label>
        E-mail
        <input name="email" type="email" autoComplete="username" required />
      </label>
      <label>
        Password
        <input name="password" type="password" autoComplete="current-password" required />
      </label>
      <button type="submit" disabled={isPending}>
        Sign in
      </button>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  )
}
