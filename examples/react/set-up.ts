import type { Client } from '@graticule/client'
import { pageKey } from '../page-key.ts'

const reads = { read: '*', execute: '*' } as const

/** What somebody may do who has signed in: show maps and data, and upload. */
const permissions = { auth: { execute: '*' }, datasets: reads, styles: reads, tiles: reads, uploads: reads } as const

/** An account to sign in with, and what the page is told about the server. No key is in the page: the user's token stands for one. */
export async function setUp(client: Client, key: string): Promise<Record<string, string>> {
  const [dataset] = await client.datasets.list({ limit: 1, fields: ['applicationId'] })
  const email = 'demo@example.org'
  const password = `demo-${crypto.randomUUID()}`
  const [known] = await client.auth.users.list({ filter: { email } })
  const { id } = known ?? (await client.auth.users.create({ email, password, emailVerified: true, enabled: true }))
  if (known) await client.auth.users.patch(id, { password })
  const usersKey = await pageKey(client, key, 'The React example: signed-in users', permissions)
  await client.auth.users.metadata.setKey(id, 'auth.defaultApiKey', usersKey)
  console.log(`Sign in with ${email} and ${password}`)
  return { url: client.url, application: dataset?.applicationId ?? '' }
}
