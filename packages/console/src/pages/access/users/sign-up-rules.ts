/** The sign-up rules in `metadata.auth` of an application. */
import { list } from '../acl/acl-sentence.ts'

export interface SignUpRules {
  isEnabled: boolean
  /** Addresses, `@domain`, or `*`. */
  allow: readonly string[]
  /** Exact addresses, or `…/prefix/*`. */
  redirectUrls: readonly string[]
  /** The id of the users' default key. */
  keyId: string | null
}

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : []

export function rulesOf(metadata: unknown): SignUpRules {
  const { auth } = (metadata ?? {}) as { auth?: Record<string, unknown> | null }
  const { signup, redirectUrls, defaultApiKey } = auth ?? {}
  const { enabled, allow } = (signup ?? {}) as { enabled?: unknown; allow?: unknown }
  return {
    isEnabled: enabled === true,
    allow: strings(allow),
    redirectUrls: strings(redirectUrls),
    keyId: typeof defaultApiKey === 'string' ? defaultApiKey : null,
  }
}

/** The members that the console knows; the server keeps the others. */
export const authOf = ({ isEnabled, allow, redirectUrls, keyId }: SignUpRules): Record<string, unknown> => ({
  signup: { enabled: isEnabled, allow },
  redirectUrls,
  defaultApiKey: keyId,
})

export function rulesInWords({ isEnabled, allow }: SignUpRules): string {
  const invited = 'People you invite can choose a password in any case.'
  if (!isEnabled || allow.length === 0) return `Nobody can sign up by themselves. ${invited}`
  if (allow.includes('*')) return 'Anybody with an e-mail address can sign up.'
  const domains = allow.filter((entry) => entry.startsWith('@')).map((entry) => `everybody at ${entry.slice(1)}`)
  const single = allow.length - domains.length
  const people = single > 0 ? [`${single} ${single === 1 ? 'address' : 'addresses'}`] : []
  return `Sign-up is open to ${list([...domains, ...people])}. ${invited}`
}

type AddressResult = { value: string } | { fault: string }

export function readAllowed(text: string): AddressResult {
  const value = text.trim()
  if (value === '*' || /^[^\s@]*@[^\s@]+$/.test(value)) return { value }
  return { fault: 'Must be an address such as ada@example.org, a domain such as @example.org, or * for all.' }
}

/** Validates as the server does: http or https, no user name; a star only at the end of the path. */
export function readRedirectUrl(text: string): AddressResult {
  const value = text.trim()
  const fault =
    'Must be an address such as https://maps.example.org/welcome, or https://maps.example.org/* for all below.'
  if (!/^https?:\/\/[^\s/\\?#@]+(\/[^\s\\?#]*)?$/i.test(value) || !URL.canParse(value)) return { fault }
  return value.replace(/\/\*$/, '').includes('*') ? { fault } : { value }
}

/** Whether redirects to this page of the console are allowed, by the server's rule for its own origin. */
export function allowsConsole(redirectUrls: readonly string[], consoleAddress: string): boolean {
  if (redirectUrls.length === 0) return true
  const url = new URL(consoleAddress)
  return redirectUrls.some((entry) => {
    const isPrefix = entry.endsWith('/*')
    const address = isPrefix ? entry.slice(0, -1) : entry
    if (!URL.canParse(address)) return false
    const allowed = new URL(address)
    if (allowed.origin !== url.origin) return false
    return isPrefix ? url.pathname.startsWith(allowed.pathname) : url.pathname === allowed.pathname
  })
}
