import type { CustomFetch } from 'openid-client'

/** The part of the SSRF guard that providers are asked by: their addresses are those that tenants and providers wrote. */
export type ProviderFetcher = (
  url: string,
  request: {
    method: string
    headers: Readonly<Record<string, string>>
    body?: string
    timeoutMs: number
    maxBytes: number
    followsRedirects: false
  },
) => Promise<{
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}>

export const providerTimeoutMs = 5_000
const maxBytes = 262_144

/** Statuses whose answers have no body, which `Response` would refuse. */
const bodiless = [204, 205, 304]

/** `fetch` as the library for the protocol takes it. Answers have a bound, and redirects are not followed. */
export function providerFetch(fetch: ProviderFetcher): CustomFetch {
  return async (url, { method, headers, body }) => {
    const sent = typeof body === 'string' || body instanceof URLSearchParams ? { body: String(body) } : {}
    const limits = { timeoutMs: providerTimeoutMs, maxBytes, followsRedirects: false } as const
    const answer = await fetch(url, { method, headers, ...sent, ...limits })
    const { status } = answer
    return new Response(bodiless.includes(status) ? null : Uint8Array.from(answer.body), {
      status,
      headers: { ...answer.headers },
    })
  }
}
