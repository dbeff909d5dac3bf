import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { after, test } from 'node:test'
import { testApp } from '../../../../testing/harness.ts'

// One database is enough: the package is looked for before anything is stored.

/** As in an installation without the optional package: nothing finds it. */
const hooks = registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith('@duckdb/')) throw Object.assign(new Error('absent'), { code: 'MODULE_NOT_FOUND' })
    return next(specifier, context)
  },
})
after(() => hooks.deregister())

test('a server without DuckDB starts, does not list the driver, and says why its databases cannot be made, tested or read', async (t) => {
  const app = await testApp()
  t.after(app.close)
  const tenant = await app.tenant('files')
  const key = tenant.developer
  const { body: drivers } = await app.call('GET', '/api/v1/databases/drivers', { key })
  assert.ok(drivers.includes('postgres') && !drivers.includes('duckdb'), String(drivers))
  const body = { type: 'duckdb', name: 'Files', db: 'data' }
  const refused = await app.call('POST', '/api/v1/databases', { key, body })
  assert.equal(refused.status, 400)
  assert.match(
    refused.body.detail,
    /no driver for databases of type duckdb. Its operator can install @graticule\/driver-duckdb/,
  )
  // One that another server of the same installation made.
  const { body: made } = await app.call('POST', '/api/v1/databases', { key, body: { type: 'internal', name: 'Files' } })
  await app.db.script(`UPDATE svc.databases SET type = 'duckdb', db = 'data' WHERE id = '${made.id}'`)
  const tried = await app.call('POST', `/api/v1/databases/${made.id}/test`, { key })
  assert.equal(tried.body.ok, false, tried.text)
  assert.equal(tried.body.error.code, 'not_installed')
  assert.match(tried.body.error.message, /Its operator can install @graticule\/driver-duckdb/)
  const tables = await app.call('GET', `/api/v1/databases/${made.id}/tables`, { key })
  assert.equal(tables.status, 503, tables.text)
  assert.match(tables.body.detail, /no driver for databases of type duckdb/)
})
