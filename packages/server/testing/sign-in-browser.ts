import { hash, randomBytes } from 'node:crypto'
import type { Reply, TestApp } from './harness.ts'

/** Where the tested server is, as browsers see it. */
export const serverUrl = 'http://graticule.test'
/** The page that signs users in. */
export const page = 'https://maps.example.org/signed-in'

export type BrowserAnswer = Pick<Reply, 'status' | 'headers' | 'text'> & { readonly location: string }

/** A browser, as far as a sign-in needs one: it keeps cookies, and goes where it is sent. */
export function signInBrowser(app: Pick<TestApp, 'call'>) {
  const cookies = new Map<string, Map<string, string>>()
  const verifier = randomBytes(32).toString('base64url')
  const challenge = hash('sha256', verifier, 'base64url')

  function keep(origin: string, lines: readonly string[]): void {
    const jar = cookies.get(origin) ?? new Map<string, string>()
    for (const line of lines) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name)
      else jar.set(name, value)
    }
    cookies.set(origin, jar)
  }

  async function open(address: string): Promise<BrowserAnswer> {
    const { origin, pathname, search } = new URL(address)
    const cookie = [...(cookies.get(origin) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...(cookie !== '' && { cookie }) }
    const answer =
      origin === serverUrl ? await ofServer(`${pathname}${search}`, headers) : await ofOthers(address, headers)
    keep(origin, [answer.headers['set-cookie'] ?? []].flat().map(String))
    const { location = '' } = answer.headers
    return { ...answer, location: location === '' ? '' : new URL(String(location), address).href }
  }

  const ofServer = (path: string, headers: Record<string, string>) => app.call('GET', path, { key: null, headers })

  async function ofOthers(address: string, headers: Record<string, string>) {
    const answer = await fetch(address, { redirect: 'manual', headers })
    const named: Reply['headers'] = {
      ...Object.fromEntries(answer.headers),
      'set-cookie': answer.headers.getSetCookie(),
    }
    return { status: answer.status, headers: named, text: await answer.text() }
  }

  /** Follows redirects, until one leads to an address that begins so. */
  async function follow(address: string, end: string): Promise<string> {
    let next = address
    for (let step = 0; step < 12; step++) {
      const answer = await open(next)
      if (answer.location === '') throw new Error(`${next} answers ${answer.status}: ${answer.text}`)
      if (answer.location.startsWith(end)) return answer.location
      next = answer.location
    }
    throw new Error(`too many redirects: ${next}`)
  }

  const startOf = (providerId: string, redirect = page): string =>
    `${serverUrl}/api/v1/auth/oidc/${providerId}/start?${new URLSearchParams({ redirect, challenge })}`

  /** Signs in, and says what the page is told. */
  async function signIn(providerId: string): Promise<{ code: string; error: string }> {
    const { searchParams } = new URL(await follow(startOf(providerId), page))
    return { code: searchParams.get('sign_in_code') ?? '', error: searchParams.get('sign_in_error') ?? '' }
  }

  const exchange = (code: string, body: object = {}): Promise<Reply> =>
    app.call('POST', '/api/v1/auth/oidc/token', { key: null, body: { code, verifier, ...body } })

  return { open, follow, startOf, signIn, exchange, cookies, verifier, challenge }
}
