/**
 * The real server with the console as it is built, and Chromium, for all tests of a file. SCREENSHOTS names a folder
 * that keeps what the pages look like in light, dark and on a phone.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { after, afterEach, before } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { inspect } from 'node:util'
import type { Browser, BrowserContextOptions, Locator, Page, Request } from 'playwright-core'
import { loadSample } from '../../server/src/data/uploads/sample.ts'
import { baseStyles } from '../../server/src/tenants/cartography/maps/base-styles.ts'
import { installBaseStyles } from '../../server/src/tenants/cartography/maps/install-base-styles.ts'
import { endRoutesWith, launchChromium } from '../../server/testing/chromium.ts'
import { type Tenant, type TestApp, testApp } from '../../server/testing/harness.ts'

export type ConsolePage = Page & {
  /** What the page threw or wrote to the console as an error, a violated content security policy too. */
  faults: string[]
  /** Requests to anywhere but the server. */
  foreign: string[]
  /** Returns when no request is under way but streams of changes, which have no end. */
  untilQuiet(): Promise<void>
}

export interface Stage {
  app: TestApp
  tenant: Tenant
  /** `http://127.0.0.1:PORT` */
  url: string
  /** Opens an address of the console, such as `/data`, signed in with the tenant's developer key unless another is given. */
  open(path: string, options?: OpenOptions): Promise<ConsolePage>
}

export interface OpenOptions extends BrowserContextOptions {
  /** Null: nobody is signed in. */
  key?: string | null
}

export const phone = { width: 390, height: 844 }
const laptop = { width: 1280, height: 800 }

/** Its members are there as soon as a test runs. A test that fails tells what its pages show. */
export function setStage(): Stage {
  const stage = {} as Stage
  const opened = new Set<ConsolePage>()
  let browser: Browser
  before(async () => {
    const [launched, { app, tenant, url }] = await Promise.all([launchChromium(), startServer()])
    browser = launched
    const open: Stage['open'] = async (path, options = {}) => {
      const page = await openPage(browser, url, path, { key: tenant.developer, ...options })
      opened.add(page)
      page.once('close', () => opened.delete(page))
      return page
    }
    Object.assign(stage, { app, tenant, url, open })
  })
  afterEach(async () => {
    // A test closes its pages at its end; one that failed has left them open, to be looked at.
    for (const page of opened) {
      console.log(await describePage(page))
      await page.close()
    }
  })
  after(async () => {
    await browser?.close()
    await stage.app?.close()
  })
  return stage
}

async function startServer(): Promise<Omit<Stage, 'open'>> {
  const app = await testApp()
  await installBaseStyles(app.db, baseStyles())
  const tenant = await app.tenant('atlas')
  await loadSample(app.db, tenant.id)
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  return { app, tenant, url: `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}` }
}

/** The log of a failed file shows it. */
async function describePage(page: ConsolePage): Promise<string> {
  const shown = await page
    .ariaSnapshot({ timeout: 60_000 })
    .catch(({ message }: Error) => `It cannot be read: ${message}`)
  return [`${page.url()} shows`, shown, ...page.faults].join('\n')
}

async function openPage(browser: Browser, url: string, path: string, options: OpenOptions): Promise<ConsolePage> {
  const { key, ...context } = options
  const page = endRoutesWith(await browser.newPage({ viewport: laptop, reducedMotion: 'reduce', ...context }))
  // A busy machine is no fault of the page.
  page.setDefaultTimeout(100_000)
  const seen = { faults: [] as string[], foreign: [] as string[] }
  page.on('pageerror', ({ message }) => seen.faults.push(message))
  page.on('console', (message) => message.type() === 'error' && seen.faults.push(message.text()))
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(`${url}/`)) seen.foreign.push(request.url())
  })
  const untilQuiet = countRequests(page)
  if (key) {
    const credentials = { apiKey: key, tokens: null, applicationId: null, isKept: true }
    await page.addInitScript(
      (text) => sessionStorage.getItem('graticule.session') ?? sessionStorage.setItem('graticule.session', text),
      JSON.stringify(credentials),
    )
  }
  await page.goto(`${url}/console${path}`)
  return Object.assign(page, seen, { untilQuiet })
}

/** What Playwright calls `networkidle`, which a page that follows changes never is. */
function countRequests(page: Page): ConsolePage['untilQuiet'] {
  const quietMs = 500
  // Of requests that a worker had under way when it ended, no event tells.
  const lostMs = 5_000
  const running = new Set<Request>()
  let last = 0
  const note = () => {
    last = performance.now()
  }
  page.on('request', (request) => {
    note()
    if (!/\/changes(\?|$)/.test(request.url())) running.add(request)
  })
  for (const event of ['requestfinished', 'requestfailed'] as const)
    page.on(event as 'requestfinished', (request) => {
      note()
      running.delete(request)
    })
  const look = async () => performance.now() - last
  return async () => {
    note()
    await until(look, (ms) => ms > (running.size === 0 ? quietMs : lostMs))
  }
}

/** Keeps a picture, and one in dark and on a phone, where SCREENSHOTS says so. */
export async function screenshots(page: ConsolePage, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS
  if (!folder) return
  await mkdir(folder, { recursive: true })
  const keep = async (kind: string) => writeFile(`${folder}/${name}-${kind}.png`, await page.screenshot())
  const before = page.viewportSize()
  await keep('light')
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.untilQuiet()
  await keep('dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(phone)
  await page.untilQuiet()
  await keep('phone')
  if (before) await page.setViewportSize(before)
}

interface AxeResult {
  violations: { id: string; impact: string; help: string; nodes: { html: string; failureSummary: string }[] }[]
}

const axe = new URL(import.meta.resolve('axe-core/axe.min.js'))

/** What axe-core finds of serious or critical impact, also by rules that it does not ask by itself. The page's policy forbids inline scripts, so it is sent by the debugger. */
export async function accessibilityFaults(page: Page, moreRules: readonly string[] = []): Promise<string[]> {
  const rules = Object.fromEntries(moreRules.map((rule) => [rule, { enabled: true }]))
  const session = await page.context().newCDPSession(page)
  await session.send('Runtime.evaluate', { expression: await readFile(axe, 'utf8') })
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run(document, ${JSON.stringify({ resultTypes: ['violations'], rules })})`,
    awaitPromise: true,
    returnByValue: true,
  })
  await session.detach()
  const { violations } = result.value as AxeResult
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${help}\n  ${html}\n  ${failureSummary}`),
    )
}

/**
 * Answers the question before something is destroyed, and returns when the server has done it: the dialog stays until
 * then. What lies behind the dialog is hidden from `getByRole`, so that a record's absence there would prove nothing.
 */
export async function confirm(page: Page, action: string): Promise<void> {
  const question = page.getByRole('alertdialog')
  await question.getByRole('button', { name: action, exact: true }).click()
  await question.waitFor({ state: 'detached' })
}

/** Looks again and again until what is found is right: for what no event tells. */
export async function until<T>(look: () => Promise<T>, isRight: (found: T) => boolean): Promise<T> {
  const limit = AbortSignal.timeout(250_000)
  for (;;) {
    const found = await look()
    if (isRight(found)) return found
    if (limit.aborted) throw new Error(`It stayed ${inspect(found)}.`)
    await setTimeout(20)
  }
}

/** Returns when nothing is wider than the window. The layout may follow a change of the window only with the next frame. */
export const untilFits = (page: Page): Promise<unknown> =>
  until(
    () =>
      page.evaluate<[number, number]>('[document.documentElement.scrollWidth, document.documentElement.clientWidth]'),
    ([content, window]) => content === window,
  )

/** What scrolls sideways inside the page, such as a table that is too wide; `untilFits` sees only the page as a whole. */
export const sidewaysScrollers = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`[...document.querySelectorAll('main, main *')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .filter((element) => /auto|scroll/.test(getComputedStyle(element).overflowX))
    .map(({ outerHTML }) => outerHTML.slice(0, 200))`)

/** The link of a mail to somebody, the newest but `old`. The server writes some mails after it has answered. */
export async function mailedLink({ app }: Stage, email: string, old?: string): Promise<string> {
  const look = async () => {
    const { body: mails } = await app.call('GET', '/api/v1/outbox')
    const mail = mails.find(({ to }: { to: string[] }) => to.includes(email))
    const { text } = mail ? (await app.call('GET', `/api/v1/outbox/${mail.id}`)).body : { text: '' }
    return /https?:\S+/.exec(text)?.[0]
  }
  return String(await until(look, (link) => link !== undefined && link !== old))
}

/** Replaces the text of a code editor as a hand does it: `fill` selects behind the editor's back. */
export async function typeOver(editor: Locator, text: string): Promise<void> {
  await editor.click()
  await editor.press('Control+a')
  await editor.page().keyboard.insertText(text)
}
