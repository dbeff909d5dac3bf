import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compressionOf, featuresText, readExplanation } from './tile-explanation.ts'

test('the header of features reads as words', () => {
  assert.equal(featuresText('6488/110759'), '6,488 of 110,759 features')
  assert.equal(featuresText('3/~1200000'), '3 of about 1,200,000 features')
  assert.equal(featuresText('12/12'), '12 features')
  assert.equal(featuresText(null), undefined)
  assert.equal(featuresText('?'), undefined)
})

test('the compression is whatever the server chose; none is said where there was none', () => {
  const explanation = readExplanation(new TextEncoder().encode('{"cache":"hit","bytes":{"tile":500,"gzip":90}}').buffer)
  assert.deepEqual(compressionOf(explanation), { name: 'gzip', bytes: 90 })
  assert.equal(compressionOf({ ...explanation, bytes: { tile: 5, identity: 5 } }), undefined)
})
