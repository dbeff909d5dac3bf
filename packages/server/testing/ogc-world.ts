import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { type Tenant, type TestApp, testApp } from './harness.ts'

/** A server that listens, and a tenant with collections of every kind. */
export type OgcWorld = {
  readonly app: TestApp
  readonly own: Tenant
  readonly schema: string
  /** The address of the landing page. */
  readonly root: string
  readonly ids: Readonly<Record<'cities' | 'grid' | 'plain' | 'view' | 'zones', string>>
  create(body: object): Promise<string>
  /** Asks an address, or a path below the landing page, with the tenant's public key. */
  get(address: string, headers?: Record<string, string>): Promise<OgcReply>
  close(): Promise<void>
}

export type OgcReply = {
  readonly status: number
  readonly type: string
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was answered
  readonly body: any
  readonly text: string
}

/** `zones` cross the antimeridian and lie at both poles; `grid` is in a system whose first axis points north. */
const tables = (schema: string): string => `
  CREATE TABLE ${schema}.cities (
    id int PRIMARY KEY, name text, pop int, founded date, seen timestamptz, capital bool, tags text[], extra jsonb,
    geom geometry(Point, 4326));
  INSERT INTO ${schema}.cities VALUES
    (1, 'København', 1400000, '1167-01-01', '2026-01-01T10:00:00Z', true, '{port,old}', '{"a": 1}', ST_Point(12.57, 55.68, 4326)),
    (2, 'Suva', 94000, '1882-01-01', '2026-01-02T10:00:00Z', true, '{port}', null, ST_Point(178.44, -18.14, 4326)),
    (3, 'Apia', 37000, '1850-01-01', '2026-01-03T10:00:00Z', true, '{}', null, ST_Point(-171.76, -13.83, 4326)),
    (4, 'Bonn', 330000, null, null, false, null, null, ST_Point(7.1, 50.73, 4326)),
    (5, 'Atlantis', null, null, '2026-01-05T10:00:00Z', null, null, null, null);
  INSERT INTO ${schema}.cities
    SELECT n, 'City ' || n, n * 1000, date '1900-01-01' + n, timestamptz '2026-02-01Z' + n * interval '1 hour', n % 2 = 0,
      ARRAY['t' || n % 3], jsonb_build_object('n', n), ST_Point(n - 30, n % 40, 4326)
    FROM generate_series(6, 40) n;
  CREATE TABLE ${schema}.grid (id text PRIMARY KEY, n int NOT NULL, geom geometry(Point, 31467) NOT NULL);
  INSERT INTO ${schema}.grid SELECT 'a-' || n, n, ST_SetSRID(ST_MakePoint(3500000 + n * 1000, 5600000 + n * 500), 31467)
    FROM generate_series(1, 25) n;
  CREATE INDEX ON ${schema}.grid USING gist (geom);
  CREATE TABLE ${schema}.plain (code text, number int);
  INSERT INTO ${schema}.plain SELECT 'c' || n, n FROM generate_series(1, 30) n;
  CREATE TABLE ${schema}.zones (id uuid PRIMARY KEY, name text, geom geometry(MultiPolygon, 4326));
  INSERT INTO ${schema}.zones VALUES
    ('00000000-0000-4000-8000-000000000001', 'west of the line', ST_Multi(ST_MakeEnvelope(170, 60, 179.9, 75, 4326))),
    ('00000000-0000-4000-8000-000000000002', 'east of the line', ST_Multi(ST_MakeEnvelope(-179.9, 60, -170, 75, 4326))),
    ('00000000-0000-4000-8000-000000000003', 'north pole', ST_Multi(ST_MakeEnvelope(-180, 86, 180, 90, 4326))),
    ('00000000-0000-4000-8000-000000000004', 'south pole', ST_Multi(ST_MakeEnvelope(-180, -90, 180, -86, 4326))),
    ('00000000-0000-4000-8000-000000000005', 'middle', ST_Multi(ST_MakeEnvelope(-1, 50, 1, 52, 4326)))`

const names = ['cities', 'grid', 'plain', 'zones']

export async function ogcWorld(): Promise<OgcWorld> {
  const app = await testApp()
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  const own = await app.tenant('own')
  const schema = `app_${own.id.replaceAll('-', '')}`
  const grants = names.map((name) => `GRANT SELECT ON ${schema}.${name} TO ${schema}; ANALYZE ${schema}.${name}`)
  await app.db.script(`${tables(schema)};${grants.join(';')}`)
  const create = async (body: object): Promise<string> => {
    const reply = await app.call('POST', '/api/v1/datasets', { key: own.developer, body })
    assert.equal(reply.status, 201, reply.text)
    return reply.body.id
  }
  const table = (name: string, rest: object = {}) => create({ type: 'table', name, source: name, ...rest })
  const ids = {
    cities: await table('cities', {
      description: 'Some <cities> & places',
      metadata: { slug: 'cities', time: 'seen', attribution: 'Nobody' },
    }),
    grid: await table('grid'),
    plain: await table('plain'),
    zones: await table('zones', { metadata: { slug: 'zones' } }),
    view: await create({ type: 'sql', name: 'view', source: 'SELECT id, name, geom FROM cities' }),
  }
  const root = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}/ogc`
  const get = async (address: string, headers: Record<string, string> = {}): Promise<OgcReply> => {
    const url = address.startsWith('http') ? address : `${root}${address}`
    const reply = await fetch(url, { headers: { 'x-api-key': own.public, ...headers } })
    const text = await reply.text()
    const type = reply.headers.get('content-type') ?? ''
    const body = /json/.test(type) && text ? JSON.parse(text) : undefined
    return { status: reply.status, type, headers: reply.headers, body, text }
  }
  const close = async (): Promise<void> => {
    // The tenant's role outlives the database that it was made for.
    await app.call('DELETE', `/api/v1/applications/${own.id}`)
    await app.close()
  }
  return { app, own, schema, root, ids, create, get, close }
}

export type OgcReplyLink = { href: string; rel: string; type?: string; title?: string; templated?: boolean }

export const linkOf = (links: readonly OgcReplyLink[], rel: string, type?: string): OgcReplyLink | undefined =>
  links.find((link) => link.rel === rel && (type === undefined || link.type === type))
