import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { bundledAtOnce } from '../testing/browser.ts'

// Vite leaves the white space of libraries in: applications ship less.
const limit = 15_000
const entries = { map: 'map.ts', react: 'react/react.ts' }

for (const [name, file] of Object.entries(entries))
  test(`the entry ${name} is at most 15 kB compressed, without MapLibre and React`, async () => {
    const external = ['maplibre-gl', 'react']
    const code = await bundledAtOnce(resolve(import.meta.dirname, file), external)
    const bytes = gzipSync(code, { level: 9 }).length
    assert.match(code, /from\s*["']maplibre-gl["']/)
    assert.ok(bytes <= limit, `${bytes} bytes`)
    console.log(`${name}: ${bytes} bytes`)
  })

test('both entries can be imported where there is no window', async () => {
  const [map, react] = await Promise.all([import('./map.ts'), import('./react/react.ts')])
  assert.equal(typeof globalThis.window, 'undefined')
  assert.deepEqual([typeof map.GraticuleMap, typeof react.GraticuleMap], ['function', 'function'])
})
