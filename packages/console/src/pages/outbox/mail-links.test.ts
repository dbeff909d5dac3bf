import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linksIn, piecesOf } from './mail-links.ts'

const text =
  'Open https://a.example/confirm?token=x-1_2, or https://a.example/confirm?token=x-1_2.\nBye (http://b.example/)'

test('addresses are found once each, without the sentence around them', () => {
  assert.deepEqual(linksIn(text), ['https://a.example/confirm?token=x-1_2', 'http://b.example/'])
  assert.deepEqual(linksIn('No address: javascript:alert(1), ftp://x.example'), [])
})

test('the pieces of a text are the text', () => {
  assert.equal(
    piecesOf(text)
      .map((piece) => piece.text)
      .join(''),
    text,
  )
  assert.equal(piecesOf(text).filter(({ isLink }) => isLink).length, 3)
})
