import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { bundle } from '../testing/bundle.ts'

const mostBytes = 10_000

test('the whole client is at most 10 kB, minified and gzipped', async () => {
  const code = await bundle()
  assert.match(code, /export\s*\{[^}]*createClient/)
  const { length } = gzipSync(code)
  console.log(`${length} bytes gzipped, ${code.length} bytes minified`)
  assert.ok(length <= mostBytes, `${length} bytes`)
})
