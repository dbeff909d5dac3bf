import { mkdtemp, readdir, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Tenant, type TestApp, testApp } from './harness.ts'

// What the tests of uploads share: a service that listens, and files sent to it as browsers send them.

export type UploadApp = Awaited<ReturnType<typeof uploadApp>>
export type UploadServer = Awaited<ReturnType<typeof openUploads>>
// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was answered
export type UploadReply = { status: number; body: any; headers: Headers }
type File = { readonly name: string; readonly bytes: string | Uint8Array }

/** A service on a database of its own. */
export async function uploadApp(settings: Record<string, string> = {}, log?: (line: string) => void) {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-uploads-'))
  const app: TestApp = await testApp({ DATA_DIR: directory, ...settings }, log)
  return {
    ...(await openUploads(app, app.http, directory)),
    /**
     * A server with other settings and a tenant of its own on the same database: it opens in a fifth of the time, on the
     * embedded database in a twentieth. It closes with this one.
     */
    beside: async (changed: Record<string, string>): Promise<UploadServer> =>
      openUploads(app, (await app.replica(changed)).http, directory),
    async close(): Promise<void> {
      await app.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function openUploads(app: TestApp, http: TestApp['http'], directory: string) {
  const tenant: Tenant = await app.tenant('uploads')
  await http.listen({ port: 0, host: '127.0.0.1' })
  const address = `http://127.0.0.1:${(http.server.address() as AddressInfo).port}`

  async function call(
    method: string,
    path: string,
    init: RequestInit = {},
    key = tenant.developer,
  ): Promise<UploadReply> {
    const headers = { 'x-api-key': key, ...(init.headers as Record<string, string>) }
    const reply = await fetch(`${address}${path}`, { ...init, method, headers })
    const text = await reply.text()
    return { status: reply.status, body: text === '' ? undefined : JSON.parse(text), headers: reply.headers }
  }

  const send = (file: File, fields: Record<string, string> = {}, key = tenant.developer): Promise<UploadReply> =>
    call('POST', '/api/v1/uploads', { body: formOf(file, fields) }, key)

  /** The record once it has ended. */
  async function ended(id: string, key = tenant.developer): Promise<UploadReply['body']> {
    for (let tries = 0; tries < 60; tries++) {
      const { body } = await call('GET', `/api/v1/uploads/${id}`, { headers: { prefer: 'wait=5' } }, key)
      if (!['pending', 'processing'].includes(body.status)) return body
    }
    throw new Error('The upload never ended')
  }

  async function upload(file: File, fields: Record<string, string> = {}, key = tenant.developer) {
    const { status, body } = await send(file, fields, key)
    if (status !== 200) throw new Error(JSON.stringify(body))
    return ended(body.id, key)
  }

  const schema = `app_${tenant.id.replaceAll('-', '')}`
  return {
    app,
    tenant,
    directory,
    address,
    schema,
    call,
    send,
    ended,
    upload,
    /** The rows of a dataset. */
    rows: async (id: string, query = '') =>
      (await call('GET', `/api/v1/datasets/${id}/query?limit=1000&${query}`)).body,
    /** What uploads have left behind: files, and tables that are no dataset. Files go just after the record has ended. */
    async leftovers(patienceMs = 60_000): Promise<string[]> {
      for (const begun = performance.now(); ; ) {
        const files = await readdir(join(directory, 'uploads')).catch(() => [])
        const { rows } = await tablesOf(app, schema)
        const found = [...files, ...rows]
        if (found.length === 0 || performance.now() - begun >= patienceMs) return found
        await sleep(50)
      }
    },
  }
}

async function tablesOf({ db }: TestApp, schema: string): Promise<{ rows: string[] }> {
  const { sql } = await import('../src/kernel/db/sql.ts')
  const rows = await db.query<{ name: string }>(sql`
    SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ${schema} AND c.relkind = 'r'
      AND NOT EXISTS (SELECT FROM svc.datasets d WHERE d.source = c.relname AND svc.tenant_name(d.application_id) = ${schema})
      AND NOT EXISTS (SELECT FROM svc.datasets d WHERE starts_with(c.relname, 'svc_ov_' || replace(d.id::text, '-', '') || '_'))`)
  return { rows: rows.map(({ name }) => name) }
}

export function formOf({ name, bytes }: File, fields: Record<string, string> = {}): FormData {
  const form = new FormData()
  for (const [field, value] of Object.entries(fields)) form.append(field, value)
  form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), name)
  return form
}
