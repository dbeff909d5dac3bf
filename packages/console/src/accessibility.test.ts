import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessibilityFaults, setStage, until } from '../testing/stage.ts'

const stage = setStage()

/** The addresses of all pages, with records on those that show some. */
async function addresses(): Promise<string[]> {
  const { app, tenant } = stage
  const ask = async (path: string) => (await app.call('GET', `/api/v1/${path}`, { key: tenant.developer })).body
  const [dataset] = await ask('datasets')
  const [tileSource] = await ask('tilesources')
  const [database] = await ask('databases')
  const ofDataset = ['table', 'query', 'attributes', 'rules', 'snippets', 'settings'].map(
    (tab) => `/data/${dataset.id}/${tab}`,
  )
  return [
    ...['/', '/data', '/data?add=new-table', '/maps', `/maps?dataset=${dataset.id}`, `/tiles/${tileSource.id}`],
    ...ofDataset,
    ...['keys', 'users', 'roles', 'signup', 'signin', 'applications'].map((tab) => `/access/${tab}`),
    ...['/agents', '/databases', `/databases/${database.id}`, '/contact-points', '/outbox', '/activity', '/usage'],
    ...['/configuration', '/reset-password', '/confirm', '/nowhere'],
  ]
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(`no page of the console has a fault that axe finds, targets that are too small among them, in the ${colorScheme} theme`, async () => {
    const found: Record<string, string[]> = {}
    for (const address of await addresses()) {
      const page = await stage.open(address, { colorScheme })
      await page.untilQuiet()
      await until(() => page.locator('h1, h2, form').count(), (count) => count > 0) // biome-ignore format: one line
      const faults = await accessibilityFaults(page, ['target-size'])
      if (faults.length > 0) found[address.replace(/[\da-f-]{36}/, '…')] = faults
      await page.close()
    }
    assert.deepEqual(found, {})
  })
}
