import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stylesNaming } from './styles-naming.ts'

const style = (name: string, paint: object) => ({
  id: name,
  name,
  style: { version: 8, sources: {}, layers: [{ paint }] },
})

test('a map names an attribute where an expression of it does, and not where a longer name holds it', () => {
  const styles = [
    style('by height', { 'circle-radius': ['get', 'height'] }),
    style('by height_m', { 'circle-radius': ['get', 'height_m'] }),
    style('of cells', { metadata: { value: 'avg(height)' } }),
    style('plain', { 'circle-color': '#ff0000' }),
  ]
  assert.deepEqual(
    stylesNaming(styles as never, 'height').map(({ name }) => name),
    ['by height', 'of cells'],
  )
})
