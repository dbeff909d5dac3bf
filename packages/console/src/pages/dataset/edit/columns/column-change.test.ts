import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DatasetAttribute } from '../../dataset.ts'
import { changeOf, draftOfAttribute, kindsFor, newDbType, typeRefusal } from './column-change.ts'

const attribute = (more: Partial<DatasetAttribute>) =>
  ({ name: 'height', type: 'number', dbType: 'numeric(10,2)', nullable: true, primaryKey: false, description: 'In feet', ...more }) as DatasetAttribute // biome-ignore format: one line

test('only what differs of a column is sent, and a type that this form does not know stays', () => {
  const height = attribute({})
  const draft = draftOfAttribute(height)
  assert.deepEqual([draft.kind, draft.size], ['decimal', '10,2'])
  assert.deepEqual(changeOf(height, draft), {})
  assert.deepEqual(changeOf(height, { ...draft, name: ' height_m ', description: 'In metres' }), {
    name: 'height_m',
    description: 'In metres',
  })
  assert.deepEqual(changeOf(height, { ...draft, size: '10, 3', isRequired: true, preset: '1.5' }), {
    dbType: 'numeric(10,3)',
    nullable: false,
    default: 1.5,
  })
  assert.deepEqual(changeOf(height, { ...draft, hasNoDefault: true, description: '' }), { default: null, description: '' }) // biome-ignore format: one line
  assert.equal(newDbType(height, { ...draft, kind: 'integer', size: '' }), 'bigint')
  assert.equal(newDbType(height, { ...draft, size: 'x' }), undefined)
  const small = attribute({ type: 'integer', dbType: 'smallint' })
  assert.deepEqual(changeOf(small, draftOfAttribute(small)), {})
  const text = attribute({ type: 'string', dbType: 'character varying(20)' })
  assert.deepEqual(changeOf(text, { ...draftOfAttribute(text), size: '' }), { dbType: 'text' })
})

test('keys, computed values, lists and geometries keep their type', () => {
  assert.match(String(typeRefusal(attribute({ primaryKey: true }))), /key/)
  assert.match(String(typeRefusal(attribute({ generated: 'always' }))), /computes/)
  assert.match(String(typeRefusal(attribute({ type: 'geometry' }))), /cannot be converted/)
  assert.equal(typeRefusal(attribute({})), undefined)
  assert.ok(!kindsFor(attribute({})).includes('geometry'))
})
