import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

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
