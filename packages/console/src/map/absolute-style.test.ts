import assert from 'node:assert/strict'
import { test } from 'node:test'
import { absoluteStyle } from './absolute-style.ts'

const drawn = (source: object) =>
  absoluteStyle({ version: 8, sources: { one: { type: 'vector', ...source } }, layers: [] }).sources.one as Record<
    string,
    unknown
  >

test('the base map of a stored style leaves its attribution to the server, which knows whose streets are shown', () => {
  const { url, ...rest } = drawn({ url: '/tiles/basemap/index.json', attribution: 'Natural Earth' })
  assert.match(String(url), /^\w+:.*\/tiles\/basemap\/index\.json$/)
  assert.deepEqual(rest, { type: 'vector' })
})

test('other sources keep their attribution', () => {
  assert.equal(drawn({ url: '/tiles/7/index.json', attribution: 'City of Bern' }).attribution, 'City of Bern')
  assert.equal(drawn({ url: 'https://a.org/tiles/basemap/index.json', attribution: 'A' }).attribution, 'A')
})
