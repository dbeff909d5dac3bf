import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium } from '../../../testing/chromium.ts'
import { type OgcReplyLink, type OgcWorld, ogcWorld } from '../../../testing/ogc-world.ts'

let world: OgcWorld
let browser: Browser
before(async () => {
  ;[world, browser] = await Promise.all([ogcWorld(), launchChromium()])
})
after(async () => {
  await browser?.close()
  await world?.close()
})

const linksIn = (value: unknown): OgcReplyLink[] => {
  if (typeof value !== 'object' || value === null) return []
  if ('href' in value && 'rel' in value) return [value as OgcReplyLink]
  return Object.values(value).flatMap(linksIn)
}

const anchorsIn = (html: string): string[] =>
  [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'))

/** One link of each kind is followed for each collection; templates and pages after the second are not. */
const kindOf = (href: string): string => {
  const { pathname, searchParams } = new URL(href)
  return [pathname.replace(/items\/[^/]+/, 'items/ID'), searchParams.get('f'), searchParams.has('cursor')].join(' ')
}

/** Asks a link, checks that the answer is what the link says, and returns the links in it. */
async function follow({ href, rel, type }: OgcReplyLink): Promise<OgcReplyLink[]> {
  const reply = await fetch(href, { headers: type ? { accept: type } : {} })
  const text = await reply.text()
  assert.equal(reply.status, 200, `${rel} ${href} ${text.slice(0, 300)}`)
  const answered = reply.headers.get('content-type') ?? ''
  if (type) assert.equal(answered.split(';')[0], type.split(';')[0], `${rel} ${href}`)
  if (/html/.test(answered)) return anchorsIn(text).map((address) => ({ href: address, rel: 'anchor' }))
  return /json/.test(answered) ? linksIn(JSON.parse(text)) : []
}

test('every link of every document and page leads to what it says, with nothing but the key of the first address', async () => {
  const waiting: OgcReplyLink[] = [{ href: `${world.root}?api-key=${world.own.public}`, rel: 'start' }]
  const seen = new Set<string>()
  for (const followed of waiting) {
    for (const link of await follow(followed)) {
      assert.match(link.href, /^(https?:|data:)/, `${link.rel} of ${followed.href} is absolute`)
      assert.ok(link.rel === 'anchor' || link.type, `${link.rel} of ${followed.href} has a type`)
      if (link.templated || !link.href.startsWith(world.root) || seen.has(kindOf(link.href))) continue
      seen.add(kindOf(link.href))
      waiting.push(link)
    }
  }
  assert.ok(seen.size > 40, `${seen.size} kinds of links`)
  for (const page of ['/collections/cities/items html', '/collections/cities/items/ID html', '/assets/map.js']) {
    assert.ok(
      [...seen].some((kind) => kind.startsWith(`/ogc${page}`)),
      page,
    )
  }
})

test('pages are chosen by Accept as browsers send it, and escape what datasets say', async () => {
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  for (const path of ['', '/conformance', '/api', '/collections', '/collections/cities', '/collections/cities/items']) {
    const { type, text, headers } = await world.get(path, { accept })
    assert.match(type, /^text\/html/, path)
    assert.match(headers.get('vary') ?? '', /^accept,/)
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'; script-src 'self'/)
    assert.doesNotMatch(text, /<cities>|style="|<script>|onclick/)
  }
  const { text } = await world.get('/collections?f=html')
  assert.match(text, /Some &lt;cities&gt; &amp; places/)
  assert.match((await world.get('/collections', { accept: '*/*' })).type, /json/)
  assert.match((await world.get('/collections?f=json', { accept })).type, /json/)
})

test('a person can go from the first page to a feature on a map, with nothing refused by the browser', async () => {
  const page = await browser.newPage({ viewport: { width: 390, height: 800 } })
  const faults: string[] = []
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  page.on('pageerror', (error) => faults.push(error.message))
  await page.goto(world.root)
  await page.getByLabel('API key').fill(world.own.public)
  await page.getByRole('button', { name: 'Show collections' }).click()
  await page.getByRole('link', { name: 'cities', exact: true }).click()
  await page.getByRole('link', { name: 'The features', exact: true }).click()
  await page.locator('#map[data-ready]').waitFor()
  assert.ok(await page.getByRole('cell', { name: 'København' }).isVisible())
  await page.getByRole('link', { name: '1', exact: true }).click()
  await page.locator('#map[data-ready]').waitFor()
  assert.ok(await page.getByRole('cell', { name: '1400000' }).isVisible())
  const width = await page.evaluate(() => document.documentElement.scrollWidth)
  assert.ok(width <= 390, `${width} pixels wide on a phone`)
  assert.deepEqual(faults, [])
})
