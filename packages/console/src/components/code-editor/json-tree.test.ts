import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonFaults, pathSegments, positionOfPath } from './json-tree.ts'
import { prettyJson } from './pretty-json.ts'

const style = `{
  "version": 8,
  "layers": [
    { "id": "a", "type": "fill" },
    { "id": "b", "paint": { "circle-color": 12, "x": { "stops": [] } } }
  ]
}`

const at = (text: string, path: string) => {
  const range = positionOfPath(text, path)
  return range && text.slice(range.from, range.to)
}

test('a path of either notation leads to the value it names', () => {
  assert.deepEqual(pathSegments('layers[1].paint.circle-color'), ['layers', '1', 'paint', 'circle-color'])
  assert.equal(at(style, 'layers[1].paint.circle-color'), '12')
  assert.equal(at(style, 'body/style/layers/1/paint/circle-color'), '12')
  assert.equal(at(style, '/layers/0/id'), '"a"')
  assert.equal(at(style, 'version'), '8')
})

test('a value with parts is shown by its name, and what is missing at its nearest parent', () => {
  assert.equal(at(style, 'layers[1].paint'), '"paint"')
  assert.equal(at(style, 'layers[0].paint.x'), '{')
  assert.equal(positionOfPath(style, 'layers[0].paint')?.from, style.indexOf('{ "id": "a"'))
  assert.equal(at(style, 'body/sources'), '{')
  assert.equal(at('', 'a.b'), null)
})

test('text that is not JSON is marked at the token that does not fit, in words', () => {
  const faults = (text: string) =>
    jsonFaults(text).map(({ from, to, message }) => [text.slice(0, from).split('\n').length, from, to, message])
  assert.deepEqual(faults('{\n  "a":\n}'), [[3, 9, 9, 'A value is missing here.']])
  assert.deepEqual(faults('{"a": 1,}'), [[1, 8, 8, 'A name in double quotes is missing here.']])
  assert.deepEqual(faults('{"a" 1}'), [[1, 5, 5, 'A colon is missing here.']])
  assert.deepEqual(faults('[1 2]'), [[1, 3, 4, '2 does not fit here. A comma or ] is expected.']])
  assert.deepEqual(faults('{a: 1}'), [[1, 1, 2, 'a does not fit here. A name in double quotes is expected.']])
  assert.match(String(faults("{'a': 1}")[0]?.[3]), /double quotes/)
  assert.deepEqual(faults('[]\n]'), [[2, 3, 3, 'Nothing may follow after the first value.']])
  assert.deepEqual(faults(style), [])
})

test('JSON keeps on a line what fits there, and says the same', () => {
  const value = { where: { geom: { $bbox: [5, 45, 15, 55] }, name: 'x"' }, order: [], none: null, long: 'a'.repeat(60) }
  const text = prettyJson(value)
  assert.deepEqual(JSON.parse(text), value)
  assert.equal(text.split('\n')[1], '  "where": { "geom": { "$bbox": [5, 45, 15, 55] }, "name": "x\\"" },')
  assert.equal(prettyJson([]), '[]')
})
