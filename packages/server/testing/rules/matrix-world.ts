// A tenant with callers of every kind, and requests whose answers are searched for what the caller may not see.
import assert from 'node:assert/strict'
import { type EditWorld, editWorld } from '../editing.ts'
import { type OracleCaller, type OracleRule, type OracleView, type Rules, viewOf } from './oracle.ts'
import { type PlainTable, tokensIn, tokensOf } from './plain-table.ts'
import { metadataOf, rolesOf } from './random-rules.ts'

export type MatrixCaller = OracleCaller & { readonly name: string; readonly headers: Readonly<Record<string, string>> }

export type MatrixWorld = EditWorld & { readonly callers: readonly MatrixCaller[]; readonly adaId: number }

export async function matrixWorld(settings: Record<string, string> = {}): Promise<MatrixWorld> {
  const world = await editWorld('SELECT 1', settings)
  const { app, tenant } = world
  const callers: MatrixCaller[] = []
  let adaId = 0
  for (const [name, metadata] of Object.entries(metadataOf)) {
    const roles = rolesOf[name] ?? []
    const user = await app.user(tenant.id, { email: `${name}@example.org`, roles, metadata })
    const about = { id: Number(user.id), email: user.email, roles, metadata }
    callers.push({ name, user: about, headers: { 'x-api-key': tenant.developer, ...(await app.login(user)).headers } })
    if (name === 'ada') adaId = about.id
  }
  const everything = { '*': { '*': '*' } } as const
  // Keys without a user that may write see the record whole, as administrators do: so these may only read.
  const reading = { '*': { read: '*', execute: '*' } } as const
  const ofKey = async (name: string, keyMetadata: Readonly<Record<string, unknown>>, rest?: object) => {
    const key = await app.key(tenant.id, rest ? everything : reading, { metadata: keyMetadata, ...rest })
    return { name, keyMetadata, headers: { 'x-api-key': key } }
  }
  const ada = callers.find(({ name }) => name === 'ada')?.user
  assert.ok(ada)
  const owned = await ofKey('key of ada', { team: 't3', teams: ['t2'] }, { type: 'user', userId: adaId })
  const app1 = await ofKey('key', { team: 't2', teams: ['t1', 't2'] })
  const app2 = await ofKey('hostile key', { team: ['t1', null], teams: { $ne: '' } })
  return { ...world, adaId, callers: [...callers, { ...owned, user: ada }, app1, app2] }
}

export type SearchedReply = {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  /** As bytes, so that names in binary formats are found. */
  readonly text: string
  readonly raw: Buffer
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was answered
  readonly body: any
}

export type SentRequest = {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly text?: string
}

async function send(
  { app }: EditWorld,
  headers: Readonly<Record<string, string>>,
  method: string,
  url: string,
  { body, text, headers: more = {} }: SentRequest = {},
): Promise<SearchedReply> {
  const payload = text ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await app.http.inject({
    method: method as 'GET',
    url,
    headers: { ...headers, ...(payload !== undefined && { 'content-type': 'application/json' }), ...more },
    ...(payload !== undefined && { payload }),
  })
  const { rawPayload: raw, statusCode: status } = response
  const isJson =
    /json/.test(String(response.headers['content-type'])) &&
    !/seq|ndjson/.test(String(response.headers['content-type']))
  const body1 = isJson && raw.length > 0 ? JSON.parse(response.body) : undefined
  return { status, headers: response.headers, text: raw.toString('latin1'), raw, body: body1 }
}

/** One dataset as one caller sees it. */
export type Sight = {
  readonly world: MatrixWorld
  readonly id: string
  readonly tileSourceId: string
  readonly table: PlainTable
  readonly caller: MatrixCaller
  readonly view: OracleView
  /** Whether the key of the table is seen in all rows. */
  readonly isKeyShown: boolean
  /** Every row as the product writes it for whom nothing binds, by mark. */
  readonly written: ReadonlyMap<string, Readonly<Record<string, unknown>>>
  readonly label: string
  /** Asks as the caller, and searches the answer. */
  ask(method: string, url: string, request?: SentRequest): Promise<SearchedReply>
  /** The same for an address that names what is hidden, and gets it back in an error. */
  askNaming(method: string, url: string, request?: SentRequest): Promise<SearchedReply>
}

export type Subject = Pick<Sight, 'world' | 'id' | 'tileSourceId' | 'table' | 'written'>

export function sightOf(subject: Subject, all: Rules, caller: MatrixCaller, label: string): Sight {
  const { world, table } = subject
  const view = viewOf(table, all, caller)
  const hidden = hiddenTokens(table, view)
  const hiddenNames = Object.keys(table.kinds).filter((name) => !view.columns.includes(name))
  const say = `${label}, ${caller.name}`
  const search = (answer: SearchedReply, what: string, names: readonly string[]): SearchedReply => {
    const all = `${JSON.stringify(answer.headers)} ${answer.text}`
    const given = tokensIn(what)
    const leaked = [...tokensIn(all)].filter((token) => hidden.has(token) && !given.has(token))
    const named = names.filter((name) => all.includes(name))
    assert.deepEqual([leaked, named], [[], []], `${say}: ${what} shows what is hidden: ${answer.text.slice(0, 2_000)}`)
    assert.ok(answer.status < 500, `${say}: ${what}: ${answer.text}`)
    return answer
  }
  const asking =
    (names: readonly string[]) =>
    async (method: string, url: string, request: SentRequest = {}): Promise<SearchedReply> =>
      search(
        await send(world, caller.headers, method, url, request),
        `${method} ${url} ${JSON.stringify(request.body)}`,
        names,
      )
  const isNamed = ({ attributes }: OracleRule): boolean => attributes?.includes(table.key ?? '') ?? true
  const isKeyShown = view.columns.includes(table.key ?? '') && (!view.isBound || (all.rules ?? []).every(isNamed))
  return { ...subject, caller, view, isKeyShown, label: say, ask: asking(hiddenNames), askNaming: asking([]) }
}

function hiddenTokens(table: PlainTable, view: OracleView): Set<string> {
  const hidden = new Set<string>()
  const shown = new Set<string>()
  const cells = new Map(view.rows.map(({ row, cells }) => [row, cells]))
  for (const row of table.rows) {
    for (const [name, value] of Object.entries(row)) {
      const isShown = (cells.get(row)?.[name] ?? null) !== null
      for (const token of tokensOf(name, value)) (isShown ? shown : hidden).add(token)
    }
  }
  return hidden.difference(shown)
}

/** What a query answers for the rows of a view. */
export const expectedRows = ({ view, written }: Pick<Sight, 'view' | 'written'>): Record<string, unknown>[] =>
  view.rows.map(({ row, cells }) => {
    const whole = written.get(String(row.mark_qz)) ?? {}
    return Object.fromEntries(view.columns.map((name) => [name, cells[name] === null ? null : whole[name]]))
  })

const sorted = (rows: readonly unknown[]): string[] => rows.map((row) => JSON.stringify(row)).sort()

export function sameRows(actual: unknown, expected: readonly unknown[], what: string): void {
  assert.ok(Array.isArray(actual), `${what}: ${JSON.stringify(actual)}`)
  assert.deepEqual(sorted(actual), sorted(expected), what)
}
