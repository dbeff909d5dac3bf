import assert from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '../../../../testing/harness.ts'

let app: TestApp
before(async () => {
  app = await testApp()
})
after(() => app.close())

const create = (style: unknown) => app.call('POST', '/api/v1/styles', { body: { name: 'a', style } })
const source = { s: { type: 'vector', url: 'https://tiles.example/index.json' } }

test('a fault in a style is answered with its path', async () => {
  for (const [style, place] of [
    [{ version: 7, sources: {}, layers: [] }, 'body/style/version'],
    [{ version: 8, sources: {}, layers: [{ id: 'a', type: 'lin' }] }, 'body/style/layers/0'],
    [
      {
        version: 8,
        sources: source,
        layers: [{ id: 'a', type: 'line', source: 's', 'source-layer': 'x', paint: { 'line-width': 'x' } }],
      },
      'body/style/layers/0/paint/line-width',
    ],
    [{}, 'body/style'],
  ] as const) {
    const { status, body } = await create(style)
    assert.equal(status, 400)
    assert.equal(body.errors[0].path, place)
    assert.match(body.detail, /^body\/style/)
  }
})

test('what is no style at all is 400, also where the validator trips', async () => {
  for (const style of [null, [], 'text', 5, { version: 8, sources: { a: null }, layers: [null] }]) {
    assert.equal((await create(style)).status, 400, JSON.stringify(style))
  }
})

test('a style comes back as it was given', async () => {
  const style = {
    version: 8,
    name: 'All kinds',
    metadata: { 'mapbox:autocomposite': true },
    sources: source,
    layers: [
      {
        id: 'roads',
        type: 'line',
        source: 's',
        'source-layer': 'roads',
        filter: ['==', ['get', 'class'], 'primary'],
        paint: { 'line-width': ['interpolate', ['linear'], ['zoom'], 5, 1, 15, 8.5] },
      },
    ],
  }
  const { status, body } = await create(style)
  assert.equal(status, 201)
  assert.deepEqual(body.style, style)
})

test('checking a large style leaves the server free to answer others', async () => {
  const layer = (id: number) => ({
    id: String(id),
    type: 'line',
    source: 's',
    'source-layer': 'x',
    paint: { 'line-color': ['match', ['get', 'c'], 'a', '#f00', 'b', '#0f0', '#00f'] },
  })
  await create({ version: 8, sources: {}, layers: [] })
  const delay = monitorEventLoopDelay({ resolution: 5 })
  const start = performance.now()
  delay.enable()
  const { status } = await create({
    version: 8,
    sources: source,
    layers: Array.from({ length: 1_500 }, (_, id) => layer(id)),
  })
  const took = performance.now() - start
  delay.disable()
  assert.equal(status, 201)
  // The check itself takes hundreds of milliseconds; what is left here is reading and writing JSON.
  assert.ok(
    delay.max / 1e6 < Math.max(200, took / 2),
    `the event loop stood still for ${delay.max / 1e6} of ${took} ms`,
  )
})
