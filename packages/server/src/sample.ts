import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { tenantSchema } from './databases/tenant-schema.ts'
import type { Queryable } from './db/db.ts'
import { ident, json, sql } from './db/sql.ts'

const file = new URL('../../assets/samples/cities.tsv.gz', import.meta.url)
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

/** The large cities of the world: a table, a dataset and a map of it, so that the first start shows something living. */
export async function loadSample(tx: Queryable, applicationId: string): Promise<void> {
  const schema = tenantSchema(applicationId)
  const table = ident(schema, 'cities')
  await tx.query(sql`CREATE TABLE ${table} (
    id bigint PRIMARY KEY, name text, country text, population integer, capital boolean, geom geometry(Point, 4326))`)
  await tx.copyIn(sql`COPY ${table} FROM STDIN`, lines())
  await tx.query(sql`CREATE INDEX ON ${table} USING gist (geom)`)
  await tx.query(sql`ANALYZE ${table}`)
  const id = randomUUID()
  await tx.query(sql`
    INSERT INTO svc.datasets (id, application_id, database_id, type, source, name, description, attributes, bytes, metadata)
    SELECT ${id}::uuid, application_id, id, 'table', 'cities', 'Cities of the world',
      'Cities with more than 100 000 inhabitants. A sample: delete it when you like.', ${json(attributes)},
      pg_total_relation_size(${`${schema}.cities`}::regclass), ${json({ attribution, tags: ['sample'] })}
    FROM svc.databases WHERE application_id = ${applicationId}::uuid AND "default"`)
  await tx.query(sql`
    INSERT INTO svc.tilesources (id, application_id, type, source, attribution, min_zoom, max_zoom, extent_lng_lat, is_extent_found, headers)
    SELECT ${id}::uuid, ${applicationId}::uuid, 'dataset', ${id}, ${attribution}, 0, 14,
      to_jsonb(ARRAY[ST_XMin(box), ST_YMin(box), ST_XMax(box), ST_YMax(box)]), true, '{}'::jsonb
    FROM (SELECT ST_Expand(ST_Extent(geom), 0.001) AS box FROM ${table}) extent`)
}

/** Each piece ends at the end of a line, as COPY wants it. */
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
