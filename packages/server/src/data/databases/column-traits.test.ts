import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AttributeType } from '../../query/values/attribute.ts'
import { driverNames, drivers } from './drivers.ts'

// One database is enough: only names of types are read.

type Named = readonly [type: AttributeType, dbType: string, traits: object]

const postgresNames: readonly Named[] = [
  ['string', 'text', { isText: true }],
  ['string', 'character varying(20)', { isText: true }],
  ['string', 'character(5)', { sqlType: 'bpchar' }],
  ['string', 'VARCHAR', { isNative: true }],
  ['string', '', {}],
  ['array', '', { itemType: 'string' }],
  ['binary', '', {}],
  ['string', 'public.citext', { isNative: true, hasOwnLike: true }],
  ['string', 'interval(3)', { isNative: true }],
  ['string', 'point', { isPrinted: true }],
  ['datetime', 'timestamp(3) without time zone', { withoutZone: true }],
  ['datetime', 'timestamp with time zone', {}],
  ['time', 'time with time zone', { sqlType: 'timetz', isNative: true }],
  ['number', 'real', { sqlType: 'float4' }],
  ['number', 'numeric(18,3)', {}],
  ['array', 'character varying(20)[]', { itemType: 'string', isOrdered: true }],
  ['array', 'double precision[]', { itemType: 'number', isOrdered: true }],
  ['array', 'numeric(18,3)[]', { itemType: 'number', isOrdered: true, isNative: true }],
  ['array', 'point[]', { itemType: 'string' }],
  ['array', 'geometry(Point,4326)[]', { itemType: 'geometry' }],
  ['geometry', 'geography(Polygon,4326)', { geography: true, isAreal: true }],
  ['geometry', 'geometry(MultiPolygonZ,4326)', { isAreal: true }],
  ['geometry', 'geometry(CurvePolygon,4326)', {}],
  ['geometry', 'geometry(Point,4326)', { ringless: true }],
  ['geometry', 'public.geometry', { isVarying: true, mixed: true }],
  ['geometry', 'geometry(MultiPoint,4326)', { ringless: true, isMultiPoint: true }],
]

const duckdbNames: readonly Named[] = [
  ['string', 'VARCHAR', { isText: true }],
  ['string', 'text', {}],
  ['datetime', 'TIMESTAMP_NS', { withoutZone: true }],
  ['datetime', 'TIMESTAMP WITH TIME ZONE', {}],
  ['number', 'DECIMAL(18,3)', { decimal: 'DECIMAL(18,3)' }],
  ['number', 'DOUBLE', {}],
  ['array', 'UHUGEINT[]', { itemType: 'integer' }],
  ['array', 'DECIMAL(18,3)[]', { itemType: 'number' }],
  ['array', 'TIMESTAMP WITH TIME ZONE[]', { itemType: 'datetime' }],
  ['array', 'INTEGER[][]', { itemType: 'array' }],
  ['array', 'STRUCT("a" INTEGER)[]', { itemType: 'string' }],
  ['geometry', 'GEOMETRY(OGC:CRS84)', {}],
]

const names = { internal: postgresNames, postgres: postgresNames, duckdb: duckdbNames }

for (const driver of driverNames) {
  test(`a driver knows the names of its own types and no others: ${driver}`, () => {
    for (const [type, dbType, traits] of names[driver]) {
      assert.deepEqual(drivers[driver].columnTraits({ type, dbType, srid: 4326 }), traits, dbType)
    }
  })
}
