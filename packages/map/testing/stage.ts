/** The real server, a browser and a page for all tests of a file: a page that begins anew loads and compiles MapLibre again. */
import { after, afterEach, before, beforeEach } from 'node:test'
import type { Page } from 'playwright-core'
import { startBrowser, type TestBrowser } from './browser.ts'
import type { Tools } from './page.ts'
import { startWorld, type World } from './world.ts'

declare global {
  var tools: Tools
}

export type Stage = { world: World; browser: TestBrowser; page: Page & { faults: string[] } }

/** Its members are there as soon as a test runs. */
export function setStage(): Stage {
  const stage = {} as Stage
  before(async () => {
    const [world, browser] = await Promise.all([startWorld(), startBrowser()])
    Object.assign(stage, { world, browser })
  })
  after(async () => {
    await stage.browser?.close()
    await stage.world?.close()
  })
  beforeEach(async () => {
    if (!stage.page || stage.page.isClosed()) stage.page = await stage.browser.open()
  })
  afterEach(async (context) => {
    // What a failed test has left in its page must not fail the next one.
    if (!(context as { passed?: boolean }).passed) return await stage.page.close()
    for (const event of ['request', 'response']) stage.page.removeAllListeners(event)
    await stage.page.unrouteAll()
    await stage.page.evaluate(() => tools.clear())
    stage.page.faults.length = 0
  })
  return stage
}
