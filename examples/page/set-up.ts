import type { Client } from '@graticule/client'
import { pageKey } from '../page-key.ts'

const reads = { read: '*', execute: '*' } as const

/** What the page is told: the server, and a key that shows maps and data and does nothing else. */
export async function setUp(client: Client, key: string): Promise<Record<string, string>> {
  const permissions = { datasets: reads, styles: reads, tiles: reads }
  return { url: client.url, key: await pageKey(client, key, 'The example page', permissions) }
}
