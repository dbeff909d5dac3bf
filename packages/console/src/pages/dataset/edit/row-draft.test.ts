import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DatasetAttribute } from '../dataset.ts'
import { changedColumns, faultsByColumn, readDraft, rowDraft, withCell } from './row-draft.ts'

const attribute = (name: string, type: DatasetAttribute['type'] = 'string'): DatasetAttribute => ({
  name,
  type,
  dbType: '',
  nullable: true,
  primaryKey: false,
  description: '',
})
const attributes = [attribute('name'), attribute('name/full'), attribute('seats', 'integer')]

test('only what was changed is sent, and of a new row only what was given', () => {
  const before = rowDraft(attributes, { name: 'a', 'name/full': null, seats: 2 })
  const after = { ...before, seats: { mode: 'value' as const, text: '3' } }
  const changed = changedColumns(attributes, before, after)
  assert.deepEqual(readDraft(changed, after), { values: { seats: 3 }, errors: {} })
  assert.deepEqual(readDraft(attributes, rowDraft(attributes, null)), { values: {}, errors: {} })
})

test('faults of the server belong to the column with the longest name that fits', () => {
  const fields = [
    { path: 'body/name/full/0', message: 'must be a text' },
    { path: 'body/seats', message: 'must not be null.' },
  ]
  assert.deepEqual(faultsByColumn(attributes, { fields }), {
    byColumn: { 'name/full': 'Must be a text.', seats: 'Must not be null.' },
    hasOthers: false,
  })
  assert.equal(faultsByColumn(attributes, { fields: [{ path: 'body', message: 'x' }] }).hasOthers, true)
})

test('columns of longitude and latitude follow the point, unless they say something else', () => {
  const columns = [attribute('lon', 'number'), attribute('Latitude', 'number'), { ...attribute('geom', 'geometry'), geometryType: 'Point' }] // biome-ignore format: one line
  const value = (text: string) => ({ mode: 'value' as const, text })
  const at = (...point: string[]) => ({ mode: 'value' as const, text: '', point })
  const moved = (lon: string, lat: string) => {
    const draft = { lon: value(lon), Latitude: value(lat), geom: at('24.94', '60.17') }
    const { lon: x, Latitude: y } = withCell(columns, draft, 'geom', at('25', '61'))
    return [x?.text, y?.text]
  }
  assert.deepEqual(moved('24.940001', '60.17'), ['25', '61'])
  assert.deepEqual(moved('', ''), ['25', '61'])
  assert.deepEqual(moved('7', '60.17'), ['7', '60.17'])
  assert.deepEqual(withCell(columns.slice(1), {}, 'geom', at('25', '61')), { geom: at('25', '61') })
})
