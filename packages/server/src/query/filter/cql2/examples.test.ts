import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ident } from '../../../kernel/db/sql.ts'
import { ApiError } from '../../../kernel/errors.ts'
import type { Attribute, Attributes } from '../../values/attribute.ts'
import { filterSql } from '../filter-sql.ts'
import type { Filter } from '../filter-tree.ts'
import { parseCql2Json, parseCql2Text } from './parse.ts'

// The examples of the standard (see testing/cql2/README.md): each has one or more texts, and the same in JSON.

type Example = { readonly name: string; readonly texts: readonly string[]; readonly json: unknown }

const file = new URL('../../../../testing/cql2/examples.jsonl', import.meta.url)
const examples: readonly Example[] = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

const named: Partial<Record<Attribute['type'], readonly string[]>> = {
  string: [
    ...['beamMode', 'city', 'cityName', 'eo:instrument', 'etat_vol', 'geophys:SURVEY_NAME', 'id', 'landsat:scene_id'],
    ...['material', 'name', 'owner', 'polarization', 'road_class', 'swathDirection'],
  ],
  number: [
    ...[
      'balance',
      'bar',
      'bridge_clearance',
      'category',
      'depth',
      'eo:cloud_cover',
      'floors',
      'foo',
      'landsat:wrs_row',
    ],
    ...['taxes', 'vehicle_height', 'windSpeed', 'x'],
  ],
  boolean: ['swimming_pool'],
  date: ['built', 'updated'],
  datetime: ['ends_at', 'event_time', 'liftOff', 'starts_at', 'touchdown', 'updated_at'],
  geometry: ['footprint', 'geometry', 'location', 'road'],
  json: ['layer:ids', 'values'],
}

/** Names that are text in one example and numbers in another. */
const undecided = ['landsat:wrs_path', 'value']

function attributesWith(type: 'string' | 'number'): Attributes {
  const all = { ...named, [type]: [...(named[type] ?? []), ...undecided] }
  return new Map(
    Object.entries(all).flatMap(([kind, names]) =>
      (names ?? []).map((name): [string, Attribute] => [name, { name, type: kind as Attribute['type'] }]),
    ),
  )
}
const readings = [attributesWith('number'), attributesWith('string')]

/** Functions that the examples invent. */
const withFunctions = ['clause6_01', 'clause6_02b', 'clause7_18', 'example68', 'example69']
const options = { path: 'query/filter' }

test('the examples of the standard are understood in text and in JSON alike', () => {
  const understood = examples.filter(({ name }) => !withFunctions.includes(name))
  assert.equal(understood.length, examples.length - withFunctions.length)
  for (const { name, texts, json } of understood) {
    const results = readings.flatMap((attributes) => attempt(() => parseCql2Json(json, attributes, options)) ?? [])
    const [expected] = results
    assert.ok(expected, `${name} in JSON`)
    filterSql(expected, (attribute) => ident(attribute.name))
    for (const text of texts) {
      const [actual] = readings.flatMap((attributes) => attempt(() => parseCql2Text(text, attributes, options)) ?? [])
      assert.ok(actual, `${name}: ${text}`)
      assert.deepEqual(plain(actual), plain(expected), `${name}: ${text}`)
    }
  }
})

test('functions that are not of CQL2 are refused by name', () => {
  for (const { name, texts, json } of examples.filter((example) => withFunctions.includes(example.name))) {
    for (const parse of [
      () => parseCql2Json(json, attributesWith('number'), options),
      () => parseCql2Text(texts[0] ?? '', attributesWith('number'), options),
    ]) {
      assert.throws(parse, (error) => error instanceof ApiError && /avg|buffer|foo|bar/i.test(error.message), name)
    }
  }
})

function attempt(parse: () => Filter): Filter | undefined {
  try {
    return parse()
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/** Numbers keep their spelling, which is 1.0 in a text and 1 in JSON. */
const plain = (filter: Filter): unknown =>
  JSON.parse(JSON.stringify(filter), (_, value) => (/^-?\d+\.\d+$/.test(String(value)) ? String(Number(value)) : value))
