import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { testDatabase } from '../../../../testing/database.ts'
import type { Db } from '../../../kernel/db/db.ts'
import { ident, joinSql, raw, sql } from '../../../kernel/db/sql.ts'
import type { Attribute, Attributes } from '../../values/attribute.ts'
import { filterPredicate } from '../filter-predicate.ts'
import { filterSql } from '../filter-sql.ts'
import { parseCql2Text } from './parse.ts'

// The filters of the abstract test suite of CQL2 (OGC 21-065r2) with the numbers of rows that must match, on the data that
// the standard publishes for it: see testing/cql2/README.md.

/**
 * Three numbers of the suite cannot be right: of its places, Chișinău, Chicago and Chengdu begin with Ch, and only Chișinău
 * with Chiș. They are those of the pattern 'Chi%'.
 */
const errata: Readonly<Record<string, number>> = {
  "ACCENTI(name) LIKE accenti('Ch%')": 3,
  "ACCENTI(CASEI(name)) LIKE accenti(casei('Chiș%'))": 1,
  "ACCENTI(CASEI(name)) LIKE accenti(casei('cHis%'))": 1,
}

type Row = Record<string, unknown>
type Layer = 'countries' | 'places' | 'rivers'

const folder = new URL('../../../../testing/cql2/', import.meta.url)
const layers: Record<Layer, Row[]> = JSON.parse(
  gunzipSync(readFileSync(new URL('natural-earth.json.gz', folder))).toString(),
)
const cases = readFileSync(new URL('expected-counts.tsv', folder), 'utf8')
  .trim()
  .split('\n')
  .map((line) => {
    const [conformanceClass = '', layer = '', count = '', filter = ''] = line.split('\t')
    return { conformanceClass, layer: layer as Layer, count: errata[filter] ?? Number(count), filter }
  })

const columns: Record<Layer, Record<string, [Attribute['type'], string]>> = {
  countries: {
    NAME: ['string', 'text'],
    POP_EST: ['number', 'float8'],
    geom: ['geometry', 'geometry(Geometry, 4326)'],
  },
  places: {
    name: ['string', 'text'],
    nameascii: ['string', 'text'],
    pop_max: ['integer', 'int8'],
    pop_min: ['integer', 'int8'],
    pop_other: ['integer', 'int8'],
    date: ['date', 'date'],
    start: ['datetime', 'timestamptz'],
    end: ['datetime', 'timestamptz'],
    boolean: ['boolean', 'bool'],
    geom: ['geometry', 'geometry(Geometry, 4326)'],
  },
  rivers: { name: ['string', 'text'], geom: ['geometry', 'geometry(Geometry, 4326)'] },
}

const attributesOf = (layer: Layer): Attributes =>
  new Map(Object.entries(columns[layer]).map(([name, [type]]) => [name, { name, type }]))

const parsed = cases.map(({ layer, filter }) => parseCql2Text(filter, attributesOf(layer), { path: 'query/filter' }))
const layerNames = Object.keys(columns) as Layer[]

let db: Db
let close: () => Promise<void>

before(async () => {
  ;({ db, close } = await testDatabase())
  for (const layer of layerNames) await load(layer)
})

after(() => close())

async function load(layer: Layer): Promise<void> {
  const declared = Object.entries(columns[layer]).map(([name, [, type]]) => sql`${ident(name)} ${raw(type)}`)
  await db.query(sql`CREATE TABLE ${ident(layer)} (${joinSql(declared, ', ')})`)
  await db.query(sql`
    INSERT INTO ${ident(layer)}
    SELECT * FROM jsonb_populate_recordset(NULL::${ident(layer)}, ${JSON.stringify(layers[layer])}::jsonb)`)
}

for (const layer of layerNames) {
  const own = cases.flatMap((expected, index) => {
    const filter = parsed[index]
    return expected.layer === layer && filter ? [{ expected, filter }] : []
  })

  test(`the filters of the standard's test suite select in SQL the ${layer} they must`, async () => {
    const counts = own.map(
      ({ filter }, index) =>
        sql`count(*) FILTER (WHERE ${filterSql(filter, ({ name }) => ident(name))})::int AS ${ident(`f${index}`)}`,
    )
    const [row] = await db.transaction(async (tx) => {
      await tx.query(sql`SET LOCAL jit = off`)
      await tx.query(sql`SET LOCAL TimeZone = 'Asia/Kathmandu'`)
      return tx.query<Record<string, number>>(sql`SELECT ${joinSql(counts, ', ')} FROM ${ident(layer)}`)
    })
    compare(
      own.map(({ expected }) => expected),
      (index) => row?.[`f${index}`],
    )
  })

  test(`the filters of the standard's test suite select in memory the ${layer} they must`, () => {
    compare(
      own.map(({ expected }) => expected),
      (index) => {
        const holds = filterPredicate(own[index]?.filter ?? { kind: 'or', filters: [] })
        return layers[layer].filter((item) => holds(item) === true).length
      },
    )
  })
}

/** All differences at once. */
function compare(expected: readonly (typeof cases)[number][], countOf: (index: number) => number | undefined): void {
  const wrong = expected.flatMap(({ filter, count }, index) => {
    const actual = countOf(index)
    return actual === count ? [] : [`${actual} instead of ${count}: ${filter}`]
  })
  assert.deepEqual(wrong, [])
  assert.ok(expected.length > 5)
}
