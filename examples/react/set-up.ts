import type { Client } from '@graticule/client'

/** An account to sign in with, and what the page is told about the server. The key itself stays here. */
export async function setUp(client: Client, key: string): Promise<Record<string, string>> {
  const [dataset] = await client.datasets.list({ limit: 1, fields: ['applicationId'] })
  const email = 'demo@example.org'
  const password = `demo-${crypto.randomUUID()}`
  const [known] = await client.auth.users.list({ filter: { email } })
  const { id } = known ?? (await client.auth.users.create({ email, password, emailVerified: true, enabled: true }))
  if (known) await client.auth.users.patch(id, { password })
  await client.auth.users.metadata.setKey(id, 'auth.defaultApiKey', key)
  console.log(`Sign in with ${email} and ${password}`)
  return { url: client.url, application: dataset?.applicationId ?? '' }
}
