import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'

/** The shell without a window takes a third less time than the whole browser. */
const executables = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

/** A page of a test is closed before optimized code and a small young generation are worth what they cost. */
const shortLived = '--js-flags=--no-maglev --no-turbofan --min-semi-space-size=8'

/** Debian's Chromium, which draws maps in software: the same on every machine, and quicker than asking for a GPU first. */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: executables.find(existsSync) ?? 'chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--use-gl=angle',
      '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader',
      shortLived,
    ],
  })

/**
 * A page that answers requests itself (`page.route`) may still be asked as it is closed. What its handler then awaits fails, after the test has
 * ended, and nobody waits for it: the process of the tests would end with 1, and nothing would tell why.
 */
export function endRoutesWith<T extends Page>(page: T): T {
  const close = page.close.bind(page)
  page.close = async (options) => {
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await close(options)
  }
  return page
}
