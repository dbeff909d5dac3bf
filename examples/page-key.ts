import type { ApiError, ApiKeyCreate, Client } from '@graticule/client'

/**
 * A key for a page, with what everybody may do who opens it. Made once, then found by its description. A key that may not make
 * keys is narrow itself, and is used as it is.
 */
export async function pageKey(
  client: Client,
  key: string,
  description: string,
  permissions: ApiKeyCreate['permissions'],
): Promise<string> {
  try {
    const [known] = await client.apiKeys.list({ filter: { description }, limit: 1 })
    return (known ?? (await client.apiKeys.create({ type: 'app', description, permissions }))).id
  } catch (error) {
    if ((error as ApiError).status === 401) return key
    throw error
  }
}
