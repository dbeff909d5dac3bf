/** The real server and a browser for all tests of a file, and a page of its own for each. */
import { after, afterEach, before, beforeEach } from 'node:test'
import type { Page } from 'playwright-core'
import { startBrowser, type TestBrowser } from './browser.ts'
import type { Tools } from './page.ts'
import { startWorld, type World } from './world.ts'

declare global {
  var tools: Tools
}

type Stage = { world: World; browser: TestBrowser; page: Page & { faults: string[] } }

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
    stage.page = await stage.browser.open()
  })
  afterEach(() => stage.page.close())
  return stage
}
