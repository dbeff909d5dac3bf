import assert from 'node:assert/strict'
import type { Reply } from '../harness.ts'

/** The address that a `Link` header has for a relation. */
export function linkOf({ headers }: Pick<Reply, 'headers'>, relation = 'next'): string | undefined {
  const links = String(headers.link ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g)
  return [...links].find(([, , name]) => name === relation)?.[1]
}

export const cursorOf = (reply: Pick<Reply, 'headers'>): string | null =>
  new URL(linkOf(reply) ?? '/', 'http://localhost').searchParams.get('cursor')

const mostPages = 1_000

/** All pages, from link to link. `each` is told of a page before the next one is asked for. */
export async function walkPages<Row>(
  ask: (address: string) => Promise<Reply>,
  first: string,
  each: (rows: Row[]) => Promise<void> = async () => {},
): Promise<Row[][]> {
  const pages: Row[][] = []
  for (let address: string | undefined = first; address !== undefined; ) {
    const reply = await ask(address)
    assert.equal(reply.status, 200, reply.text)
    assert.ok(pages.push(reply.body) < mostPages, 'The walk does not end')
    await each(reply.body)
    address = linkOf(reply)
  }
  return pages
}
