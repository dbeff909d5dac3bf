/**
 * A request to send. `~name~` in it stands for an id, a key or a long text that is put in when it is sent, so that
 * a seed gives the same requests in every run and a counterexample stays readable.
 */
export type RawRequest = { method: string; url: string; headers: Record<string, string>; body?: string | Uint8Array }

/** A caller: what goes into its key's place, and the ids it knows, by the segment of the address they belong to. */
export type Principal = {
  /** null sends no key at all. */
  readonly keys: readonly (string | null)[]
  /** What it may say in `x-application-id`; null says nothing. */
  readonly applications: readonly (string | null)[]
  readonly ids: Readonly<Record<string, readonly string[]>>
  /** The ids that it may delete; the rest are for the other requests to find. */
  readonly expendable: Readonly<Record<string, readonly string[]>>
  /** The ids that it says where a record names another. */
  readonly references: Readonly<Record<string, readonly string[]>>
}

/** A request before it is written down. Parameters are percent-encoded already: some are deliberately so in a wrong way. */
export type RequestDraft = {
  readonly method: string
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: readonly (readonly [string, string])[]
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly rawBody?: string | Uint8Array
}

/** The request as it is sent. */
export function written({ method, path, params, query, headers, body, rawBody }: RequestDraft): RawRequest {
  const address = path.replace(/\{(\w+)\}/g, (_, name) => params[name] ?? '')
  const search = query.map(([name, value]) => `${name}=${value}`).join('&')
  const text = rawBody ?? (body === undefined ? undefined : JSON.stringify(body))
  return {
    method,
    url: search ? `${address}?${search}` : address,
    headers: { ...(text === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(text !== undefined && { body: text }),
  }
}
