import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { getCompileCacheDir } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Permissions } from '../src/api/access/grants.ts'
import { createPasswords } from '../src/api/access/secrets/passwords.ts'
import { createSecrets } from '../src/api/access/secrets/secrets.ts'
import type { DeclaredOperation } from '../src/api/http/operation.ts'
import { createApp } from '../src/boot/app.ts'
import { setUp } from '../src/boot/start/first-start.ts'
import { createLogger } from '../src/boot/start/log.ts'
import type { EmbeddedLimits } from '../src/kernel/db/embedded/embedded-limits.ts'
import { loadConfig } from '../src/kernel/settings/config.ts'
import { migratedDatabase } from './database.ts'

export type Reply = {
  status: number
  headers: Record<string, string | string[] | number | undefined>
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was answered
  body: any
  text: string
}
export type Request = { key?: string | null; body?: unknown; headers?: Record<string, string>; raw?: string }
/** An application with its first keys, and `reader`, which may read and execute everything. */
export type Tenant = { id: string; developer: string; public: string; reader: string }
export type TestUser = { id: string; applicationId: string; email: string; password: string }
export type TestApp = Awaited<ReturnType<typeof testApp>>

/** The least that argon2 takes: 30 ms less for each password. A `replica` has the cost of a real server. */
const quickHash = { memoryCost: 8, timeCost: 1, parallelism: 1 }

export const about = { version: { tag: '0.0.0-test', hash: 'abc', timestamp: 1 } }

/**
 * The whole service on a database of its own, called without a socket. `log` gets every line of its log, `limits` are those
 * of the embedded database.
 */
export async function testApp(
  settings: Record<string, string> = {},
  log?: (line: string) => void,
  limits?: EmbeddedLimits,
) {
  const { db, url, admin, adminUrl, close: closeDatabase } = await migratedDatabase(limits)
  const master = randomUUID()
  const secrets = createSecrets('a secret for tests, long enough to be one')
  await setUp(db, secrets, master)
  const logger = log ? createLogger('trace', { write: log }) : createLogger(process.env.TEST_LOG ?? 'silent')
  const directory = join(tmpdir(), `graticule-data-${randomUUID()}`)
  // Services that tests stand up are on loopback.
  const usual = { DATA_DIR: directory, EGRESS_ALLOW: '127.0.0.1:*' }
  const configOf = (own: Record<string, string>) => loadConfig({ ...usual, ...own, ...(url && { DATABASE_URL: url }) })
  const config = configOf(settings)
  const dataDirectory = settings.DATA_DIR ?? directory
  shareCompiledCode(dataDirectory)
  const app = await createApp({ db, secrets, logger, config, about })
  Object.assign(app.services, { passwords: createPasswords(undefined, quickHash) })

  const others: { close(): Promise<unknown> }[] = []
  /** Another server on the same database, as a second replica is; `changed` are its settings that differ. */
  const replicas: { close(): Promise<void> }[] = []
  async function replica(changed?: Record<string, string>) {
    const own = changed ? configOf({ ...settings, ...changed }) : config
    const made = await createApp({ db, secrets, logger, config: own, about })
    replicas.push(made)
    return made
  }

  /** Sends a request; with the master key unless another, or null for none, is said. */
  async function call(
    method: string,
    url: string,
    { key = master, body, headers = {}, raw }: Request = {},
  ): Promise<Reply> {
    const response = await app.http.inject({
      method: method as 'GET',
      url,
      headers: {
        ...(key === null ? {} : { 'x-api-key': key }),
        ...(body === undefined && raw === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(raw === undefined ? (body === undefined ? {} : { payload: JSON.stringify(body) }) : { payload: raw }),
    })
    const isJson = /json/.test(String(response.headers['content-type'])) && response.body !== ''
    return {
      status: response.statusCode,
      headers: response.headers,
      body: isJson ? JSON.parse(response.body) : undefined,
      text: response.body,
    }
  }

  /** A key of an application, made by the master key. */
  async function key(applicationId: string, permissions: Permissions, rest: object = {}): Promise<string> {
    const reply = await call('POST', '/api/v1/apikeys', { body: { type: 'app', permissions, applicationId, ...rest } })
    if (reply.status !== 201) throw new Error(reply.text)
    return reply.body.id
  }

  async function tenant(name: string): Promise<Tenant> {
    const { body } = await call('POST', '/api/v1/applications', { body: { name } })
    return {
      id: body.id,
      developer: await key(body.id, { '*': { '*': '*' } }),
      public: body.keys.public,
      reader: await key(body.id, { '*': { read: '*', execute: '*' } }),
    }
  }

  /** A user of an application who can log in, made by the master key. */
  async function user(applicationId: string, rest: object = {}): Promise<TestUser> {
    const given = { email: `${randomUUID()}@example.org`, password: `pass ${randomUUID()}`, ...rest }
    const reply = await call('POST', '/api/v1/auth/users', { body: { emailVerified: true, applicationId, ...given } })
    if (reply.status !== 201) throw new Error(reply.text)
    return { ...given, applicationId, id: reply.body.id }
  }

  /** The tokens of a user, and the header that carries the access token. */
  async function login({ email, password, applicationId }: Omit<TestUser, 'id'>) {
    const reply = await call('POST', '/api/v1/auth/login', { key: null, body: { email, password, applicationId } })
    if (reply.status !== 200) throw new Error(reply.text)
    const { accessToken, refreshToken } = reply.body as { accessToken: string; refreshToken: string }
    return { accessToken, refreshToken, headers: { authorization: `Bearer ${accessToken}` } }
  }

  return {
    db,
    /** Only on PostgreSQL: the address of the database. */
    url,
    /** The same database for what needs an administrator. */
    admin,
    adminUrl,
    dataDirectory,
    secrets,
    http: app.http,
    services: app.services,
    operations: app.operations as readonly DeclaredOperation[],
    master,
    call,
    key,
    tenant,
    user,
    login,
    replica,
    /** Closes this, too, when the service is closed. */
    closeAlso: (one: { close(): Promise<unknown> }) => void others.push(one),
    async close() {
      await Promise.all([app, ...replicas].map((one) => one.close()))
      await Promise.all(others.map((one) => one.close()))
      await closeDatabase()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Lets the readers of uploads find what those of other test files compiled; in a new data directory they would find nothing. */
function shareCompiledCode(dataDirectory: string): void {
  const compiled = getCompileCacheDir()
  if (!compiled) return
  const link = join(dataDirectory, 'cache', basename(compiled))
  // An earlier server on the same directory has made it.
  if (existsSync(link)) return
  mkdirSync(dirname(link), { recursive: true })
  symlinkSync(compiled, link)
}
