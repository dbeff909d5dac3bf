import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyColumn } from '../../dataset/edit/column-draft.ts'
import { emptyTable, missingOf, sourceOf, tableOf, withColumn } from './table-draft.ts'

test('the name of the table follows that of the dataset, as the server takes it', () => {
  const of = (name: string) => sourceOf({ name, source: '' })
  assert.equal(of('Trees of Helsinki'), 'trees_of_helsinki')
  assert.equal(of('  Bäume (neu) '), 'bäume_neu')
  assert.equal(of('2027 plan'), 't_2027_plan')
  assert.equal(of('svc_x'), 't_svc_x')
  assert.ok(of('x'.repeat(90)).length <= 50)
  assert.equal(sourceOf({ name: 'Trees', source: ' oaks ' }), 'oaks')
})

test('a table has a numbered key and a point at first; defaults are values of their type', () => {
  const columns = withColumn(emptyTable.columns).map((one) =>
    one.place === 2 ? { ...one, name: 'seats', kind: 'integer' as const, preset: '2', isRequired: true } : one,
  )
  assert.equal(missingOf({ ...emptyTable, columns }), 'Give the table a name.')
  assert.deepEqual(tableOf({ ...emptyTable, name: 'Benches', columns }, undefined), {
    type: 'table',
    name: 'Benches',
    source: 'benches',
    columns: [
      { name: 'id', type: 'integer', primaryKey: true },
      { name: 'seats', type: 'integer', nullable: false, default: 2 },
      { name: 'geom', type: 'geometry', geometryType: 'Point' },
    ],
  })
  const nameless = { ...emptyTable, name: 'x', columns: [{ ...emptyColumn, place: 0 }] }
  assert.equal(missingOf(nameless), 'Give each column a name.')
})
