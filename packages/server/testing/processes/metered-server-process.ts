/** The whole service in a process of its own that measures itself: started by metered-server.ts, asked by messages. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openApiDocument } from '../../src/boot/documents/openapi-document.ts'
import { testApp } from '../harness.ts'
import { readDocument } from '../requests/api-document.ts'
import { createPool } from '../requests/request-pool.ts'
import { startCpuMeter } from './cpu-meter.ts'

export type Greeting = {
  readonly url: string
  /** Of a server of this process that receives requests, discards them and answers nothing else. */
  readonly bareUrl: string
  readonly names: readonly (readonly [string, string])[]
}

const [settings = '{}'] = process.argv.slice(2)
const app = await testApp(JSON.parse(settings))
const pool = await createPool(app, readDocument(await openApiDocument()), 'Foreign')
const bare = createServer((request, response) => request.resume().on('end', () => response.end())).listen(
  0,
  '127.0.0.1',
)
await once(bare, 'listening')
const meter = startCpuMeter()

process.on('message', (message) => {
  if (message === 'begin') meter.begin()
  process.send?.(meter.read())
})
process.once('disconnect', async () => {
  await pool.close()
  bare.close()
  await app.close()
  process.exit(0)
})
const bareUrl = `http://127.0.0.1:${(bare.address() as AddressInfo).port}`
process.send?.({ url: app.http.listeningOrigin, bareUrl, names: [...pool.names] } satisfies Greeting)
