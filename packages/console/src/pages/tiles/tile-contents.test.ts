import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PbfWriter } from 'pbf'
import { geometryName, tileContents } from './tile-contents.ts'

/** Two points with a long name each, and one flag that both share. */
function tile(): ArrayBuffer {
  const writer = new PbfWriter()
  const names = ['Frankfurt am Main', 'Rothenburg ob der Tauber']
  writer.writeMessage(
    3,
    (_, layer) => {
      layer.writeStringField(1, 'towns')
      for (const index of names.keys()) {
        layer.writeMessage(
          2,
          (_feature, feature) => {
            feature.writePackedVarint(2, [0, index, 1, 2])
            feature.writeVarintField(3, 1)
            feature.writePackedVarint(4, [9, 50, 34])
          },
          null,
        )
      }
      for (const key of ['name', 'capital']) layer.writeStringField(3, key)
      for (const name of names) layer.writeMessage(4, (_value, value) => value.writeStringField(1, name), null)
      layer.writeMessage(4, (_value, value) => value.writeBooleanField(7, false), null)
      layer.writeVarintField(5, 4096)
      layer.writeVarintField(15, 2)
    },
    null,
  )
  return new Uint8Array(writer.finish()).buffer
}

test('a tile tells its layers, features and the bytes of each attribute, largest first', () => {
  const [layer, ...others] = tileContents(tile())
  assert.deepEqual(others, [])
  assert.ok(layer)
  assert.deepEqual([layer.name, layer.features, layer.kinds], ['towns', 2, ['points']])
  assert.deepEqual(
    layer.attributes.map(({ name }) => name),
    ['name', 'capital', geometryName],
  )
  const bytes = Object.fromEntries(layer.attributes.map(({ name, bytes: size }) => [name, size]))
  // Key and length (6), two pairs of one byte each (4), and the texts with their own two bytes and the value's two.
  assert.equal(bytes.name, 6 + 4 + 17 + 24 + 2 * 4)
  assert.equal(bytes.capital, 9 + 4 + 4)
  assert.equal(bytes[geometryName], 2 * 5)
  assert.deepEqual(layer.sample[0], { name: 'Frankfurt am Main', capital: false })
})

test('bytes of attributes never exceed those of the tile', () => {
  const bytes = tile()
  const sum = tileContents(bytes)
    .flatMap(({ attributes }) => attributes)
    .reduce((total, one) => total + one.bytes, 0)
  assert.ok(sum <= bytes.byteLength, `${sum} of ${bytes.byteLength}`)
})

test('an empty tile has no layers', () => assert.deepEqual(tileContents(new ArrayBuffer(0)), []))
