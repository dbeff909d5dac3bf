import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { VectorTile, type VectorTileFeature } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { type Tenant, type TestApp, testApp } from './harness.ts'

// What the tests of tiles share: a service with a tenant, tables in its schema, and tiles taken apart.

export type TileApp = Awaited<ReturnType<typeof tileApp>>

type Body = Record<string, unknown>

/** `log` gets every line of the service's log. */
export async function tileApp(settings: Record<string, string> = {}, log?: (line: string) => void) {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-tiles-'))
  const app: TestApp = await testApp({ DATA_DIR: directory, ...settings }, log)
  const tenant: Tenant = await app.tenant('maps')
  const schema = schemaOf(tenant)

  async function made(path: string, body: Body, key: string): Promise<string> {
    const reply = await app.call('POST', path, { key, body })
    if (reply.status !== 201) throw new Error(reply.text)
    return reply.body.id
  }

  return {
    app,
    tenant,
    schema,
    directory,
    /** SQL in the schema of the tenant, which may read every table that is made there. */
    async script(text: string): Promise<void> {
      await app.db.script(`SET search_path = ${schema}, public; ${text}; RESET search_path`)
    },
    dataset: (body: Body, key = tenant.developer) =>
      made('/api/v1/datasets', { type: 'table', name: 'a', ...body }, key),
    tileSource: (body: Body, key = tenant.developer) => made('/api/v1/tilesources', { type: 'dataset', ...body }, key),
    get(url: string, headers: Record<string, string> = {}, key: string | null = tenant.developer) {
      return app.http.inject({ method: 'GET', url, headers: { ...(key && { 'x-api-key': key }), ...headers } })
    },
    async close(): Promise<void> {
      await app.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

const schemaOf = ({ id }: Tenant): string => `app_${id.replaceAll('-', '')}`

/** The features of a tile of a dataset, in their order. */
export function featuresOf(bytes: Uint8Array, layerName = 'geometry'): VectorTileFeature[] {
  const layer = new VectorTile(new PbfReader(bytes)).layers[layerName]
  return Array.from({ length: layer?.length ?? 0 }, (_, index) => layer?.feature(index) as VectorTileFeature)
}

/** The values of one attribute in a tile. */
export const valuesOf = (reply: { rawPayload: Uint8Array }, name = 'id'): unknown[] =>
  featuresOf(reply.rawPayload).map(({ properties }) => properties[name])
