import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { lines } from './lines.ts'
import { type ServerSentEvent, serverSentEvents } from './server-sent-events.ts'
import { parseJson } from './upstream.ts'

async function* cut(text: string, sizes: readonly number[]): AsyncGenerator<string> {
  for (let at = 0, i = 0; at < text.length; i++) {
    const size = sizes[i % sizes.length] ?? 1
    yield text.slice(at, at + size)
    at += size
  }
}
const events = (text: string, sizes = [1]): Promise<ServerSentEvent[]> =>
  Array.fromAsync(serverSentEvents(cut(text, sizes)))

test('lines end with \\n, \\r\\n or \\r, wherever chunks are cut, and empty ones are left out', async () => {
  const text = 'a\r\nb\rc\n\r\n\n\r\rd'
  const expected = ['a', 'b', 'c', 'd']
  for (const sizes of [[1], [2], [3], [100], [1, 2], [2, 1]]) {
    assert.deepEqual(await Array.fromAsync(lines(cut(text, sizes))), expected)
  }
})

test('events are read as the WHATWG says: names, many data lines, comments, fields without colon', async () => {
  assert.deepEqual(
    await events(': hi\nevent: x\ndata: a\ndata:b\ndata\nid: 7\nretry: 1\n\nevent: none\n\ndata:  two\n\n'),
    [
      { event: 'x', data: 'a\nb\n' },
      { event: 'message', data: ' two' },
    ],
  )
})

test('an event that the end cuts off is none', async () => {
  assert.deepEqual(await events('data: 1\n\ndata: 2\n'), [{ event: 'message', data: '1' }])
})

test('where a stream is cut into chunks changes nothing', async () => {
  const piece = fc.constantFrom('data', 'event', ':', ' ', '\n', '\r', '\r\n', '\n\n', 'x', '😀')
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece),
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }),
      async (pieces, sizes) => {
        const text = pieces.join('')
        assert.deepEqual(await events(text, sizes), await events(text, [1_000]))
      },
    ),
  )
})

test('a line without end is refused before it fills the memory', async () => {
  async function* endless() {
    for (;;) yield 'x'.repeat(1_000_000)
  }
  await assert.rejects(Array.fromAsync(lines(endless())), /line that is too long/)
  async function* manyData() {
    for (;;) yield `data: ${'x'.repeat(1_000_000)}\n`
  }
  await assert.rejects(Array.fromAsync(serverSentEvents(manyData())), /event that is too long/)
})

test('a long line in tiny chunks is read in linear time', { timeout: 100_000 }, async () => {
  const [line] = await Array.fromAsync(lines(cut('x'.repeat(100_000), [1])))
  assert.equal(line?.length, 100_000)
})

/** How often others had a turn while the stream was read. */
async function turnsDuring(stream: AsyncIterable<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  for await (const _ of stream);
  isOver = true
  return turns
}

test('others are served while a provider’s long chunk of short lines or events is read', async () => {
  const chunk = async function* (text: string) {
    yield text
  }
  for (const stream of [lines(chunk('{}\n'.repeat(50_000))), serverSentEvents(chunk('data: {}\n\n'.repeat(50_000)))]) {
    assert.ok((await turnsDuring(stream)) >= 2)
  }
})

test('a stream of something else than events is given up', async () => {
  await assert.rejects(Array.fromAsync(serverSentEvents(cut('{}\n'.repeat(2_000), [1_000]))), /is no event stream/)
})

test('JSON of a provider with too many values is refused before it is parsed, however long its texts may be', () => {
  const text = JSON.stringify({ text: 'a, [b], {c} \\" \\\\'.repeat(100_000) })
  assert.equal(parseJson(text).text, JSON.parse(text).text)
  assert.throws(() => parseJson(`{"choices":[${'[],'.repeat(100_000)}[]]}`), /too complex/)
  assert.throws(() => parseJson('['.repeat(1_000_000)), /too complex/)
})
