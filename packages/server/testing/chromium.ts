import { type Browser, chromium } from 'playwright-core'

/** Debian's Chromium, which draws maps in software: the same on every machine, and quicker than asking for a GPU first. */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
  })
