import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import type { Authority } from '../access/authenticate.ts'
import { createServer } from './server.ts'

/** What the server says of https to a request that its proxy took by `protocol`. */
async function hsts(protocol: string, trustProxy: boolean, hstsSubDomains?: boolean): Promise<unknown> {
  const options = { logger: pino({ level: 'silent' }), trustProxy, bodyLimit: 1, isStopping: () => false }
  const http = await createServer([], {} as Authority, {}, { ...options, ...(hstsSubDomains && { hstsSubDomains }) })
  const { headers } = await http.inject({ url: '/', headers: { 'x-forwarded-proto': protocol } })
  await http.close()
  return headers['strict-transport-security']
}

test('HSTS is sent on answers by https only, as the connection or a trusted proxy says', async () => {
  assert.equal(await hsts('http', true), undefined)
  assert.equal(await hsts('https', false), undefined)
  assert.equal(await hsts('https', true), 'max-age=31536000')
  assert.equal(await hsts('https', true, true), 'max-age=31536000; includeSubDomains')
})
