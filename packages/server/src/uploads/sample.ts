// The sample dataset of new installations.
import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { tenantSchema } from '../databases/tenant-schema.ts'
import { insertDataset } from '../datasets/store-dataset.ts'
import type { Queryable } from '../db/db.ts'
import { ident, sql } from '../db/sql.ts'
import { putTileSource } from '../tiles/store-tile-source.ts'

const file = new URL('../../../assets/samples/cities.tsv.gz', import.meta.url)
const attribution = 'Places from <a href="https://www.geonames.org">GeoNames</a> (CC BY 4.0)'

const plain = { nullable: true, primaryKey: false, description: '' }
const attributes = [
  { ...plain, name: 'id', type: 'integer', dbType: 'bigint', nullable: false, primaryKey: true },
  { ...plain, name: 'name', type: 'string', dbType: 'text' },
  { ...plain, name: 'country', type: 'string', dbType: 'text' },
  { ...plain, name: 'population', type: 'integer', dbType: 'integer', description: 'Inhabitants' },
  { ...plain, name: 'capital', type: 'boolean', dbType: 'boolean' },
  {
    ...plain,
    name: 'geom',
    type: 'geometry',
    dbType: 'geometry(Point,4326)',
    geometryType: 'Point',
    srid: 4326,
    dimension: 2,
  },
]

/** The world's large cities as a table, a dataset and a map, so that a first start has something to show. */
export async function loadSample(tx: Queryable, applicationId: string): Promise<void> {
  const schema = tenantSchema(applicationId)
  const table = ident(schema, 'cities')
  await tx.query(sql`CREATE TABLE ${table} (
    id bigint PRIMARY KEY, name text, country text, population integer, capital boolean, geom geometry(Point, 4326))`)
  await tx.copyIn(sql`COPY ${table} FROM STDIN`, lines())
  await tx.query(sql`CREATE INDEX ON ${table} USING gist (geom)`)
  await tx.query(sql`ANALYZE ${table}`)
  const id = randomUUID()
  const [found] = await tx.query<Found>(sql`
    SELECT d.id AS "databaseId", pg_total_relation_size(${`${schema}.cities`}::regclass)::float8 AS bytes, c.rows,
      ST_XMin(c.box) AS west, ST_YMin(c.box) AS south, ST_XMax(c.box) AS east, ST_YMax(c.box) AS north
    FROM svc.databases d, (SELECT count(*)::float8 AS rows, ST_Expand(ST_Extent(geom), 0.001) AS box FROM ${table}) c
    WHERE d.application_id = ${applicationId}::uuid AND d."default"`)
  if (!found) return
  const { databaseId, bytes, rows, west, south, east, north } = found
  await insertDataset(tx, {
    ...{ id, applicationId, databaseId, source: 'cities', name: 'Cities of the world', attributes, bytes, rows },
    description: 'Cities with more than 100 000 inhabitants. A sample: delete it when you like.',
    metadata: { attribution, tags: ['sample'] },
    ownerId: null,
    uploadedTable: null,
  })
  const map = { minZoom: 0, maxZoom: 14, extentLngLat: [west, south, east, north] as const, attribution }
  await putTileSource(tx, { id, applicationId, type: 'dataset', source: id }, map)
}

type Found = Record<'bytes' | 'rows' | 'west' | 'south' | 'east' | 'north', number> & { databaseId: string }

/** Each chunk ends at a line end, as COPY requires. */
async function* lines(): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of createReadStream(file).pipe(createGunzip()).setEncoding('utf8')) {
    const text = rest + chunk
    const end = text.lastIndexOf('\n') + 1
    rest = text.slice(end)
    if (end > 0) yield text.slice(0, end)
  }
  if (rest) yield `${rest}\n`
}
