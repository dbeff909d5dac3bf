import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../../../testing/database.ts'
import { ident, sql } from '../../../kernel/db/sql.ts'
import type { Attribute, Attributes } from '../../values/attribute.ts'
import { filterSql } from '../filter-sql.ts'
import { parseCql2Text } from './parse.ts'

// One database is enough: both have the same planner.

const declared: readonly Attribute[] = [
  { name: 'name', type: 'string' },
  { name: 'pop', type: 'integer' },
  { name: 'at', type: 'datetime' },
  { name: 'tags', type: 'array', itemType: 'string' },
  { name: 'geom', type: 'geometry' },
]
const attributes: Attributes = new Map(declared.map((attribute) => [attribute.name, attribute]))

const served: readonly (readonly [string, string])[] = [
  ["name = 'n17'", 'places_name'],
  ["'n17' <= name AND name < 'n18'", 'places_order'],
  ["name IN ('n17', 'n18')", 'places_name'],
  ['pop = 17', 'places_pop'],
  ['pop BETWEEN 17 AND 18.5', 'places_pop'],
  ['pop < 10 + 2 ^ 3', 'places_pop'],
  ['pop IN (1, 2.0, 3)', 'places_pop'],
  ["at >= TIMESTAMP('2024-01-01T00:00:00Z') AND at < TIMESTAMP('2024-01-01T01:00:00Z')", 'places_at'],
  ["at = DATE('2024-01-02')", 'places_at'],
  ["T_INTERSECTS(at, INTERVAL('2024-01-01', '2024-01-02'))", 'places_at'],
  ['S_INTERSECTS(geom, BBOX(10,10,11,11))', 'places_geom'],
  ['S_INTERSECTS(geom, POLYGON((10 10,11 10,11 11,10 10)))', 'places_geom'],
  ['S_CONTAINS(BBOX(10,10,11,11), geom)', 'places_geom'],
  ['S_EQUALS(geom, POINT(10 10))', 'places_geom'],
  ['S_TOUCHES(geom, LINESTRING(10 10,11 11))', 'places_geom'],
  ["A_CONTAINS(tags, ('t17'))", 'places_tags'],
]

test('simple CQL2 filters use the indexes of a table', async () => {
  const { db, close } = await testDatabase()
  try {
    await db.script(`
      CREATE TABLE places (name text, pop int8, at timestamptz, tags text[], geom geometry(Point, 4326));
      INSERT INTO places SELECT 'n' || n, n, timestamptz '2024-01-01 00:00:00Z' + n * interval '1 hour', ARRAY['t' || n],
        ST_Point(n % 300 - 150, n / 300.0 - 50, 4326) FROM generate_series(0, 29999) AS n;
      CREATE INDEX places_name ON places (name);
      CREATE INDEX places_order ON places (name COLLATE "C");
      CREATE INDEX places_pop ON places (pop);
      CREATE INDEX places_at ON places (at);
      CREATE INDEX places_tags ON places USING gin (tags);
      CREATE INDEX places_geom ON places USING gist (geom);
      ANALYZE places`)
    for (const [filter, index] of served) {
      const condition = filterSql(parseCql2Text(filter, attributes, { path: 'filter' }), ({ name }) => ident(name))
      const plan = await db.query(sql`EXPLAIN SELECT 1 FROM places WHERE ${condition}`)
      assert.match(JSON.stringify(plan), new RegExp(index), filter)
    }
  } finally {
    await close()
  }
})
