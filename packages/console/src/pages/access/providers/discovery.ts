/** Where a provider describes itself (OpenID Connect Discovery 1.0). */
const wellKnown = '/.well-known/openid-configuration'

/** Undefined where the text is no address yet. */
export function discoveryAddress(issuer: string): string | undefined {
  const text = issuer.trim()
  if (!/^https?:\/\/[^\s/?#\\]+[^\s?#\\]*$/i.test(text) || !URL.canParse(text)) return undefined
  return `${text.replace(/\/$/, '')}${wellKnown}`
}
