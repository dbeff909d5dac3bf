// Signing in by a provider: leaving the page for it, and completing the sign-in when the browser returns.
import { ApiError } from './api-error.ts'
import { queryString } from './query-string.ts'
import type { Tokens } from './types.ts'

export interface ProviderSignIn {
  /** The page to return to, which the application must allow. @defaultValue this page */
  redirect?: string
  /** Opens the address, instead of this page's window: for programs that have another browser. */
  open?: (address: string) => void
}

export interface SignInReturn {
  /** Where the browser returned to. @defaultValue the address of this page, from which the parameters are removed */
  address?: string
  /** A code of the user's second factor, after a first call was rejected with `second_factor_required`. */
  secondFactor?: string
}

/** A sign-in between leaving and returning: the PKCE verifier, and the one-time code once it is there. */
interface PendingSignIn {
  readonly verifier: string
  readonly code?: string
}

/** What the exchange of the one-time code sends. */
interface CodeExchange {
  readonly code: string
  readonly verifier: string
  readonly secondFactor?: string
}

/** What pages have, and other programs lack. */
interface Page {
  readonly location?: { readonly href: string; assign(address: string): void }
  readonly history?: { readonly state: unknown; replaceState(state: unknown, title: string, address: string): void }
  readonly sessionStorage?: {
    getItem(name: string): string | null
    setItem(name: string, value: string): void
    removeItem(name: string): void
  }
}

const root = '/api/v1/auth/oidc'
const storageName = 'graticule.signIn'
const codeParameter = 'sign_in_code'
const errorParameter = 'sign_in_error'

export interface ProviderSignIns {
  begin(providerId: string, options?: ProviderSignIn): Promise<void>
  /** Null where the address is no return from a provider. */
  complete(options?: SignInReturn): Promise<Tokens | null>
}

export function createProviderSignIns(url: string, exchange: (body: CodeExchange) => Promise<Tokens>): ProviderSignIns {
  const page = globalThis as Page
  /** Where there is no storage of the page. */
  let held: PendingSignIn | undefined

  function keep(pending: PendingSignIn | undefined): void {
    held = pending
    if (pending) page.sessionStorage?.setItem(storageName, JSON.stringify(pending))
    else page.sessionStorage?.removeItem(storageName)
  }

  function pending(): PendingSignIn | undefined {
    const text = page.sessionStorage?.getItem(storageName)
    return text ? JSON.parse(text) : held
  }

  /** The code of the address, which is removed from it: nobody shall find it in a history. */
  function returned(address: string | undefined): string | undefined {
    const from = address ?? page.location?.href
    const target = from === undefined ? undefined : new URL(from)
    const code = target?.searchParams.get(codeParameter)
    const reason = target?.searchParams.get(errorParameter)
    if (!target || !(code || reason)) return undefined
    target.searchParams.delete(codeParameter)
    target.searchParams.delete(errorParameter)
    if (address === undefined) page.history?.replaceState(page.history.state, '', target.href)
    if (code) return code
    keep(undefined)
    throw refused(String(reason), 'The sign-in by the provider did not succeed: see the code of this error.')
  }

  return {
    async begin(
      providerId,
      { redirect = pageAddress(page), open = (address: string) => page.location?.assign(address) } = {},
    ) {
      const { verifier, challenge } = await newVerifier()
      keep({ verifier })
      open(`${url}${root}/${encodeURIComponent(providerId)}/start${queryString({ redirect, challenge })}`)
    },
    async complete({ address, secondFactor } = {}) {
      const fresh = returned(address)
      const begun = pending()
      const code = fresh ?? (secondFactor === undefined ? undefined : begun?.code)
      if (code === undefined) return null
      if (!begun) throw refused('sign_in_not_begun', 'This sign-in was not begun in this tab. Begin again.')
      const { verifier } = begun
      keep({ verifier, code })
      try {
        const tokens = await exchange({ code, verifier, ...(secondFactor !== undefined && { secondFactor }) })
        keep(undefined)
        return tokens
      } catch (error) {
        // Whoever must type a code of a second factor, or has mistyped it, goes on with the same sign-in.
        if (secondFactor === undefined && !isFactorMissing(error)) keep(undefined)
        throw error
      }
    },
  }
}

const refused = (code: string, message: string): ApiError => new ApiError({ status: 401, code, message })

const isFactorMissing = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'second_factor_required'

function pageAddress({ location }: Page): string {
  if (!location) throw new TypeError('redirect: is required outside of a page.')
  return location.href
}

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')

async function newVerifier(): Promise<{ verifier: string; challenge: string }> {
  const { subtle } = crypto
  if (!subtle) throw new TypeError('Signing in by a provider needs a page with https:// (or http://localhost).')
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)))
  const digest = await subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  return { verifier, challenge: base64url(new Uint8Array(digest)) }
}
