import type { AddressInfo } from 'node:net'
import { testApp } from '../../server/testing/harness.ts'
import { type ClientOptions, createClient } from '../src/client.ts'

export type ClientServer = Awaited<ReturnType<typeof clientServer>>

/** A listening server with one tenant, and clients of it. */
export async function clientServer(settings: Record<string, string> = {}) {
  const app = await testApp(settings)
  const tenant = await app.tenant('client')
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  const url = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`
  return {
    app,
    tenant,
    url,
    /** With the developer's key unless another is given. */
    client: (options: ClientOptions = {}, key: string | null = tenant.developer) => createClient(url, key, options),
    close: () => app.close(),
  }
}
