import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ClientServer, clientServer } from '../testing/client-server.ts'

let server: ClientServer
before(async () => {
  server = await clientServer()
})
after(() => server.close())

const point = (x: number) => ({ type: 'Point' as const, coordinates: [x, 60] })

test('a table is made, filled, changed and emptied', async () => {
  const { datasets } = server.client()
  const { id } = await datasets.create({
    type: 'table',
    name: 'Trees',
    source: 'trees',
    columns: [
      { name: 'name', type: 'string', nullable: false },
      { name: 'geom', type: 'geometry', geometryType: 'Point' },
    ],
  })
  const oak = await datasets.insert<{ id: number; name: string }>(id, { name: 'oak', geom: point(1) })
  assert.deepEqual([oak.id, oak.name], [1, 'oak'])
  const feature = { type: 'Feature' as const, geometry: point(2), properties: { name: 'elm' } }
  const elm = await datasets.insert(id, feature)
  assert.deepEqual([elm.type, elm.id, elm.geometry], ['Feature', 2, point(2)])
  assert.deepEqual(await datasets.insert(id, [{ name: 'ash' }, { name: 'fir' }]), { count: 2, keys: [3, 4] })
  assert.deepEqual(await datasets.insert(id, 'name,geom\nyew,POINT(5 60)\n'), { count: 1, keys: [5] })
  const collection = { type: 'FeatureCollection' as const, features: [{ ...feature, id: 2 }] }
  assert.equal((await datasets.insert(id, collection, { onConflict: 'update' })).count, 1)
  let ifMatch = ''
  const onResponse = ({ headers }: Response): void => {
    ifMatch = headers.get('etag') ?? ''
  }
  await datasets.row(id, 1, { onResponse })
  assert.deepEqual(await datasets.changeRow(id, 1, { name: 'old oak' }, { ifMatch }), { ...oak, name: 'old oak' })
  await assert.rejects(datasets.changeRow(id, 1, { name: 'x' }, { ifMatch }), { status: 412 })
  assert.deepEqual(await datasets.putRow(id, 9, { name: 'box' }), { id: 9, name: 'box', geom: null })
  await datasets.deleteRow(id, 9)
  await assert.rejects(datasets.row(id, 9), { status: 404 })
  const ashes = { filter: { name: 'ash' }, expect: 1 }
  assert.deepEqual(await datasets.changeRows(id, { name: 'rowan' }, ashes), { count: 1 })
  await assert.rejects(datasets.deleteRows(id, { filter: '{}', expect: 1 }), { status: 409 })
  const { attributes } = await datasets.addColumn(id, { name: 'height', type: 'number' })
  assert.equal(attributes.at(-1)?.name, 'height')
  const { lost } = await datasets.columnConversion(id, 'height', { type: 'integer' })
  assert.equal(lost, 0)
  const changed = await datasets.changeColumn(id, 'height', { name: 'age', type: 'integer' }, { onLoss: 'refuse' })
  assert.deepEqual([changed.attributes.at(-1)?.name, changed.attributes.at(-1)?.type], ['age', 'integer'])
  await datasets.dropColumn(id, 'age')
  assert.deepEqual(await datasets.deleteRows(id, { filter: '{}', expect: 5 }), { count: 5 })
})

test('a row of a key of several columns is found by its values, whatever they hold', async () => {
  const { datasets } = server.client()
  const { id } = await datasets.create({
    type: 'table',
    name: 'Pairs',
    source: 'pairs',
    columns: [
      { name: 'a', type: 'integer', primaryKey: true },
      { name: 'b', type: 'string', primaryKey: true },
    ],
  })
  const row = { a: 1, b: 'x,y/z?' }
  assert.deepEqual(await datasets.insert(id, row), row)
  assert.deepEqual(await datasets.row(id, [1, 'x,y/z?']), row)
})
