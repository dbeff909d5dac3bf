import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { connectWorker, type TestWorker, type WorkerJob, type WorkerOptions } from './agent-worker.ts'
import { openStream } from './event-client.ts'
import { testApp } from './harness.ts'

export type AgentWorld = Awaited<ReturnType<typeof agentWorld>>

/** A listening service with one tenant, whose agents are served by real sockets. */
export async function agentWorld(settings: Record<string, string> = {}) {
  const app = await testApp(settings)
  const tenant = await app.tenant('agents')
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  const url = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`
  const workers: TestWorker[] = []
  const path = (agentId: string, rest = '') => `/api/v1/agents/${agentId}${rest}`

  return {
    app,
    tenant,
    url,
    path,
    async agent(fields: object = {}): Promise<string> {
      const reply = await app.call('POST', '/api/v1/agents', { key: tenant.developer, body: fields })
      assert.equal(reply.status, 201, reply.text)
      return reply.body.id
    },
    async worker(agentId: string, handle?: (job: WorkerJob) => unknown, options: Partial<WorkerOptions> = {}) {
      const worker = await connectWorker({
        url,
        key: tenant.developer,
        agentId,
        workerId: `worker-${workers.length}`,
        ...(handle && { handle }),
        ...options,
      })
      workers.push(worker)
      return worker
    },
    /** As the web page of the tenant asks. */
    async invoke(agentId: string, body: object, headers: Record<string, string> = {}) {
      const response = await fetch(url + path(agentId, '/invoke'), {
        method: 'POST',
        headers: { 'x-api-key': tenant.reader, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
      // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was answered
      return { status: response.status, headers: response.headers, body: (await response.json()) as any }
    },
    stream: (agentId: string, body: object, signal?: AbortSignal, key = tenant.reader) =>
      openStream(url + path(agentId, '/stream'), key, body, signal),
    get: async (agentId: string, rest = '') =>
      (await app.call('GET', path(agentId, rest), { key: tenant.developer })).body,
    async close() {
      for (const worker of workers) worker.kill()
      await app.call('DELETE', `/api/v1/applications/${tenant.id}`)
      await app.close()
    },
  }
}

export async function until(isSo: () => unknown, what: string, withinMs = 200_000): Promise<void> {
  const end = performance.now() + withinMs
  while (!(await isSo())) {
    assert.ok(performance.now() < end, what)
    await wait(10)
  }
}
