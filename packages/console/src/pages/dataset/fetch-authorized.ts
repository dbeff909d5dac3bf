/** fetch with the session's credentials, for requests whose headers or bytes the client's methods do not expose. */
import { ApiError, type Client } from '@graticule/client'

export async function fetchAuthorized(client: Client, path: string, init: RequestInit = {}): Promise<Response> {
  const first = await send(client, path, init)
  if (first.status !== 401 || !client.refreshToken) return checked(first)
  // A request of the client refreshes an expired access token.
  await client.auth.access()
  return checked(await send(client, path, init))
}

async function send(client: Client, path: string, init: RequestInit): Promise<Response> {
  const { url, headers } = client.transformRequest(`${client.url}/${path}`)
  try {
    return await fetch(url, { ...init, headers: { ...headers, ...(init.headers as Record<string, string>) } })
  } catch (cause) {
    init.signal?.throwIfAborted()
    throw new ApiError({ status: 0, code: 'network_error', message: 'The server cannot be reached.', cause })
  }
}

async function checked(response: Response): Promise<Response> {
  if (response.ok) return response
  const { status, headers } = response
  const problem = (await response.json().catch(() => ({}))) as { detail?: string; code?: string; errors?: [] }
  throw new ApiError({
    status,
    code: problem.code ?? 'unknown',
    message: problem.detail ?? `The server answered with status ${status}.`,
    errors: problem.errors ?? [],
    requestId: headers.get('x-request-id'),
  })
}
