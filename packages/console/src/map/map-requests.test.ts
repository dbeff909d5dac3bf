import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setStage } from '../../testing/stage.ts'

const stage = setStage()

test('maps are drawn under a name of the server that it does not know itself', async () => {
  const page = await stage.open('/outbox')
  // Browsers take every name below localhost for this machine; the server believes only the names that it knows.
  const named = stage.url.replace('127.0.0.1', 'atlas.localhost')
  const answered = {
    basemap: page.waitForResponse(/\/tiles\/basemap\/0\//),
    data: page.waitForResponse(/\/tiles\/[\da-f-]{36}\/0\//),
  }
  await page.goto(`${named}/console/`)
  for (const response of [await answered.basemap, await answered.data]) {
    assert.ok(response.url().startsWith(named), response.url())
    assert.equal(response.status(), 200)
  }
  assert.deepEqual(page.faults, [])
  await page.close()
})
