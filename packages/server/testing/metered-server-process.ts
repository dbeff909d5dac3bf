/** The whole service in a process of its own that measures itself: started by metered-server.ts, asked by messages. */

import { openApiDocument } from '../src/boot/documents/openapi-document.ts'
import type { Document } from './api-document.ts'
import { startCpuMeter } from './cpu-meter.ts'
import { testApp } from './harness.ts'
import { createPool } from './request-pool.ts'

export type Greeting = { readonly url: string; readonly names: readonly (readonly [string, string])[] }

const [settings = '{}'] = process.argv.slice(2)
const app = await testApp(JSON.parse(settings))
const pool = await createPool(app, JSON.parse(await openApiDocument()) as Document, 'Foreign')
const meter = startCpuMeter()

process.on('message', (message) => {
  if (message === 'begin') meter.begin()
  process.send?.(meter.read())
})
process.once('disconnect', async () => {
  await pool.close()
  await app.close()
  process.exit(0)
})
process.send?.({ url: app.http.listeningOrigin, names: [...pool.names] } satisfies Greeting)
