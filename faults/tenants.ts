import { expect } from './fault.ts'
import type { Answer } from './http.ts'
import type { FaultServer } from './server.ts'

export type FaultTenant = { readonly id: string; readonly key: string }

/** A record that must be made. */
export async function make(server: FaultServer, path: string, body: object, key?: string): Promise<Answer['body']> {
  const answer = await server.call('POST', `/api/v1/${path}`, { body, ...(key && { key }) })
  expect(answer.status === 201, () => `${path}: ${answer.status} ${answer.text}`)
  return answer.body
}

export async function makeTenant(server: FaultServer, name: string): Promise<FaultTenant> {
  const { id } = await make(server, 'applications', { name })
  const permissions = { '*': { '*': '*' } }
  const { id: key } = await make(server, 'apikeys', { type: 'app', applicationId: id, permissions })
  return { id, key }
}

/** A dataset of a query, and its tile source. */
export async function makeLayer(
  server: FaultServer,
  { key }: FaultTenant,
  source: string,
): Promise<{ dataset: string; tiles: string }> {
  const { id: dataset } = await make(server, 'datasets', { type: 'sql', name: 'layer', source }, key)
  const { id: tiles } = await make(server, 'tilesources', { type: 'dataset', source: dataset }, key)
  return { dataset, tiles }
}

export const pointsSql = (count: number): string =>
  `SELECT g AS id, ST_SetSRID(ST_MakePoint(-170 + g % 340, -70 + g % 140), 4326) AS geom FROM generate_series(1, ${count}) g`
