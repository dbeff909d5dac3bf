import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  type RandomColumn,
  type RandomTable,
  randomTable,
  type TableKind,
  tableKinds,
} from '../../../testing/uploads/random-tables.ts'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'
import { ident, joinSql, raw, sql } from '../../kernel/db/sql.ts'
import { answerFormats, type FormatName } from '../../query/formats/answer-formats.ts'

let app: UploadApp
before(async () => {
  app = await uploadApp()
})
after(() => app.close())

type Row = Record<string, unknown>
type Content = { attributes: { name: string; dbType: string; primaryKey: boolean }[]; rows: Row[] }

let made = 0

/** A dataset on a table with this content, such as an upload makes. */
async function createDataset({ columns, geometry, rows }: RandomTable): Promise<string> {
  const name = `round_${++made}`
  const table = ident(app.schema, name)
  const fields = columns.map((column) => sql`${ident(column.name)} ${raw(column.type)}`)
  const shape = geometry ? [sql`geom ${raw(`geometry(${geometry.type},${geometry.srid})`)}`] : []
  const { db } = app.app
  await db.query(sql`CREATE TABLE ${table} (${joinSql([sql`fid bigint PRIMARY KEY`, ...fields, ...shape], ', ')})`)
  await db.query(
    sql`INSERT INTO ${table} SELECT * FROM jsonb_populate_recordset(NULL::${table}, ${JSON.stringify(rows)}::text::jsonb)`,
  )
  const { status, body } = await app.call('POST', '/api/v1/datasets', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'table', name, source: name }),
  })
  assert.equal(status, 201, JSON.stringify(body))
  return body.id
}

async function contentOf(id: string, srid: number): Promise<Content> {
  const { body } = await app.call('GET', `/api/v1/datasets/${id}`)
  const attributes = body.attributes.map(({ name, dbType, primaryKey }: Content['attributes'][number]) => ({
    name,
    dbType: dbType.replace(/^public\./, ''),
    primaryKey,
  }))
  return { attributes, rows: await app.rows(id, `sort=fid&srid=${srid}`) }
}

async function exportAs(format: FormatName, id: string, srid: number): Promise<Uint8Array> {
  const system = answerFormats[format].hasSrid ? `&srid=${srid}` : ''
  const download = ['geojson', 'csv'].includes(format) ? `&filename=again.${format}` : ''
  const reply = await fetch(
    `${app.address}/api/v1/datasets/${id}/query?format=${format}&limit=1000${system}${download}`,
    {
      headers: { 'x-api-key': app.tenant.developer },
    },
  )
  const bytes = new Uint8Array(await reply.arrayBuffer())
  assert.equal(reply.status, 200, Buffer.from(bytes).toString('utf8'))
  return bytes
}

/** The datasets that an upload of this export makes. */
async function reload(format: FormatName, id: string, srid: number): Promise<string[]> {
  const bytes = await exportAs(format, id, srid)
  const name = `again.${answerFormats[format].extension}`
  const source = losses[format]?.sourceSrid ? { sourceSrid: String(srid) } : {}
  const { status, results, error } = await app.upload({ name, bytes }, { targetSrid: String(srid), ...source })
  assert.equal(status, 'completed', JSON.stringify(error))
  return results.map(({ datasetId }: { datasetId: string }) => datasetId)
}

/** What a format cannot say of a table, besides the reference system, which it says or which is 4326. */
type Losses = {
  /** The type that a column gets, if it is another one. */
  type?(column: RandomColumn, table: RandomTable): string | undefined
  /** What becomes of a value. */
  value?(value: unknown, column: RandomColumn): unknown
  /** Of these kinds of tables empty geometries are null. */
  noEmptyGeometries?: readonly TableKind[]
  /** Of a table without rows: nothing at all, or the names only. */
  ofNoRows?: 'nothing' | 'names'
  /** Of a table without rows the type of geometries is not known. */
  isUntypedWithoutRows?: true
  /** It must be told of the upload. */
  sourceSrid?: true
  /** Columns that are called by numbers come first. */
  isUnordered?: true
  /** Geometries of several kinds are several layers. */
  isOfOneKind?: true
}

/** Types are guessed: what has no look of its own is text, numbers are as wide as they need be. */
function guessedType({ name, type, isNull }: RandomColumn, { rows }: RandomTable): string | undefined {
  if (isNull) return 'text'
  if (type === 'numeric(12,3)') return 'double precision'
  if (type === 'numeric(30,10)')
    return rows.some((row) => String(row[name]).length > 17) ? 'numeric' : 'double precision'
  return type === 'uuid' || type === 'bytea' ? 'text' : undefined
}

const nullWords = ['NULL', '\\N']
const inMilliseconds = (value: unknown): unknown => value && String(value).replace(/(\.\d{3})\d+/, '$1')
const cutTo254Bytes = (text: string): string => (text.length > 254 ? text.slice(0, 254) : text)

const losses: { readonly [format in FormatName]?: Losses } = {
  csv: {
    type: (column, table) => (column.type === 'jsonb' ? 'text' : guessedType(column, table)),
    value: (value, { type }) => (type === 'text' && nullWords.includes(String(value)) ? null : value),
    ofNoRows: 'names',
    sourceSrid: true,
  },
  ndjson: { type: guessedType, ofNoRows: 'nothing', isUnordered: true },
  gpkg: { value: (value, { type }) => (type.startsWith('timestamp') ? inMilliseconds(value) : value) },
  kml: { noEmptyGeometries: tableKinds },
  shp: {
    value: (value, { type }) =>
      type === 'text' || type === 'bytea' ? cutTo254Bytes(String(value ?? '').replace(/ +$/, '')) || null : value,
    noEmptyGeometries: tableKinds,
    isOfOneKind: true,
  },
  fgb: { noEmptyGeometries: ['points'] },
}

const isEmptyGeometry = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'coordinates' in value &&
  Array.isArray(value.coordinates) &&
  value.coordinates.length === 0

/** The content that a format keeps. */
function keptContent(
  { attributes, rows }: Content,
  table: RandomTable,
  { format, kind, srid }: { format: FormatName; kind: TableKind; srid: number },
): Content {
  const { type, value = (one: unknown) => one, noEmptyGeometries, isUntypedWithoutRows } = losses[format] ?? {}
  const columns = new Map(table.columns.map((column) => [column.name, column]))
  return {
    attributes: attributes.map((attribute) => {
      const column = columns.get(attribute.name)
      const dbType = attribute.dbType.replace(/,\d+\)$/, (end) => (column ? end : `,${srid})`))
      const isUntyped = isUntypedWithoutRows && table.rows.length === 0
      const kept = isUntyped ? dbType.replace(/^geometry\(\w+/, 'geometry(Geometry') : dbType
      return { ...attribute, dbType: (column && type?.(column, table)) ?? kept }
    }),
    rows: rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, one]) => {
          const column = columns.get(name)
          if (column) return [name, value(one, column)]
          return [name, noEmptyGeometries?.includes(kind) && isEmptyGeometry(one) ? null : one]
        }),
      ),
    ),
  }
}

/** Values that became text as what they say. */
function readContent({ attributes, rows }: Content, table: RandomTable): Content {
  const texts = new Set(attributes.filter(({ dbType }) => dbType === 'text').map(({ name }) => name))
  const readers = new Map(
    table.columns.flatMap(({ name, type }) => {
      if (!texts.has(name)) return []
      if (type === 'jsonb') return [[name, (one: unknown) => one && JSON.parse(String(one))] as const]
      return type === 'numeric(30,10)' ? [[name, (one: unknown) => one && Number(one)] as const] : []
    }),
  )
  const read = ([name, one]: [string, unknown]): [string, unknown] => [name, readers.get(name)?.(one) ?? one]
  return { attributes, rows: rows.map((row) => Object.fromEntries(Object.entries(row).map(read))) }
}

const seed = Number(process.env.TEST_SEED ?? 1)
const formats = (Object.keys(answerFormats) as FormatName[]).filter((format) => format !== 'json')

/** All of them take long: a third of the kinds, another one for each format and seed. */
const kindsFor = (format: number): readonly TableKind[] =>
  tableKinds.filter((_, kind) => process.env.TEST_ALL || (kind + format + seed) % 3 === 0)

for (const [index, format] of formats.entries()) {
  describe(`an export uploaded again is the same dataset, as far as the format can say it: ${format}`, () => {
    for (const kind of kindsFor(index)) test(`${kind} (TEST_SEED=${seed})`, () => check(format, kind))
  })
}

async function check(format: FormatName, kind: TableKind): Promise<void> {
  const table = randomTable(kind, seed + tableKinds.indexOf(kind))
  const srid = answerFormats[format].hasSrid ? (table.geometry?.srid ?? 4326) : 4326
  const first = await createDataset(table)
  const { ofNoRows, isOfOneKind } = losses[format] ?? {}
  if (ofNoRows === 'nothing' && table.rows.length === 0) {
    assert.equal((await exportAs(format, first, srid)).length, 0)
    return
  }
  const [again = '', ...others] = await reload(format, first, srid)
  const content = await contentOf(again, srid)
  const expected = keptContent(await contentOf(first, srid), table, { format, kind, srid })
  if (isOfOneKind && kind === 'mixed') {
    assert.notEqual(others.length, 0)
    assert.deepEqual(content.attributes, expected.attributes)
    return
  }
  if (ofNoRows === 'names' && table.rows.length === 0) {
    assert.deepEqual(namesOf(content), namesOf(expected))
    return
  }
  const order = losses[format]?.isUnordered ? inOrder : (one: Content): Content => one
  assert.deepEqual(order(readContent(content, table)), order(expected))
  // What is lost is lost once.
  const [thrice = ''] = losses[format] ? await reload(format, again, srid) : [again]
  assert.deepEqual(await contentOf(thrice, srid), content)
}

const inOrder = ({ attributes, rows }: Content): Content => ({
  attributes: attributes.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  rows,
})

const namesOf = ({ attributes }: Content): string[] => attributes.map(({ name }) => name)
