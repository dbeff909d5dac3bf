import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { createTextPieces } from './text-pieces.ts'

function pieces(texts: readonly string[]): string[] {
  const cutter = createTextPieces()
  return [...texts.flatMap((text) => [...cutter.add(text)]), ...cutter.end()]
}

test('half an emoji waits for its other half', () => {
  assert.deepEqual(pieces(['a\ud83d', '\ude00b']), ['a', '😀b'])
  assert.deepEqual(pieces(['\ud83d', '', '\ude00']), ['😀'])
})

test('a half that stays alone becomes the replacement character', () => {
  assert.deepEqual(pieces(['a\ud83d']), ['a', '\ufffd'])
  assert.deepEqual(pieces(['\ud83d', 'x']), ['\ufffdx'])
})

test('no piece is larger than 32 KiB of UTF-8', () => {
  const text = 'x😀€'.repeat(50_000)
  const cut = pieces([text])
  assert.equal(cut.join(''), text)
  assert.ok(cut.every((piece) => Buffer.byteLength(piece) <= 32 * 1024))
})

test('whatever is yielded arrives whole and well formed', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), fc.infiniteStream(fc.nat(3)), (texts, cuts) => {
      const whole = texts.join('')
      const yielded: string[] = []
      for (let at = 0; at < whole.length; ) {
        const end = at + (cuts.next().value ?? 0)
        yielded.push(whole.slice(at, end))
        at = end
      }
      const cut = pieces(yielded)
      assert.equal(cut.join(''), whole.toWellFormed())
      assert.ok(cut.every((piece) => piece.isWellFormed() && piece !== ''))
    }),
  )
})
