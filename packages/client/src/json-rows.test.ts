import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { readRows } from './json-rows.ts'

async function* inPieces(text: string, sizes: readonly number[]): AsyncGenerator<string, void> {
  let at = 0
  for (let index = 0; at < text.length; index++) {
    const size = sizes[index % sizes.length] ?? 1
    yield text.slice(at, at + size)
    at += size
  }
}

const rowsOf = (text: string, sizes: readonly number[] = [1]) => Array.fromAsync(readRows(inPieces(text, sizes)))

describe('rows of a JSON array', () => {
  test('are the same wherever the text is cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue()),
        fc.array(fc.integer({ min: 0, max: 7 }), { minLength: 1 }),
        fc.constantFrom(undefined, 2),
        async (rows, sizes, indent) => {
          const text = `${JSON.stringify(rows, null, indent)}\n`
          assert.deepEqual(await rowsOf(text, [...sizes, 1]), JSON.parse(text))
        },
      ),
    )
  })

  test('may hold brackets, quotes and backslashes in their texts', async () => {
    const rows = [{ a: ']},"\\', '[{\\"': ['\\\\', '"', '\u2028'] }, 'x,y', '\\"', [], {}, 1.5, null, true]
    for (const size of [1, 2, 3, 5, 1_000]) assert.deepEqual(await rowsOf(JSON.stringify(rows), [size]), rows)
  })

  test('are not taken for all of them when the text is cut off', async () => {
    const text = JSON.stringify([{ a: '\\"]' }, [1, [2]], 'x'])
    for (let length = 0; length < text.length; length++) {
      const error = await rowsOf(text.slice(0, length), [3]).catch((reason) => reason)
      assert.equal(error.code, 'truncated', text.slice(0, length))
    }
    assert.deepEqual(await rowsOf('[]'), [])
    await assert.rejects(rowsOf('[{"a":}]'), { code: 'invalid_answer' })
  })
})
