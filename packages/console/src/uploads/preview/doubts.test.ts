import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UploadPreview } from '@graticule/client'
import { choicesOf, isDoubtful, previewedPart } from './doubts.ts'

const preview = (codes: string[], error: UploadPreview['error'] = {}) =>
  ({ error, layers: [{ warnings: codes.map((code) => ({ code, message: '' })) }] }) as unknown as UploadPreview

test('a file that says itself how it is read is imported unseen, as is one too large to be sent twice', async () => {
  assert.equal(await previewedPart(new File(['x'], 'a.geojson')), null)
  assert.equal(await previewedPart(new File([new Uint8Array(9_000_000)], 'a.zip')), null)
  const small = new File(['a,b\n1,2\n'], 'a.CSV')
  assert.equal(await previewedPart(small), small)
})

test('of a large table the first lines are looked at, none of them cut', async () => {
  const line = `${'x'.repeat(99)}\n`
  const part = await previewedPart(new File([line.repeat(100_000)], 'a.csv'))
  const text = await part?.text()
  assert.ok(text && text.length > 1_000_000 && text.length <= 1_048_576 && text.length % line.length === 0)
  assert.equal(await previewedPart(new File([new Uint8Array(9_000_000)], 'utf-16.csv')), null)
})

test('what the user can answer is a doubt, and what is only told is none', () => {
  assert.equal(isDoubtful(preview([])), false)
  assert.equal(isDoubtful(preview(['skipped_rows', 'missing_cells', 'local_values'])), false)
  assert.equal(isDoubtful(preview([], { code: 'unsupported_format', message: '' })), false)
  assert.equal(isDoubtful(preview(['missing_cells', 'coordinate_order'])), true)
  assert.deepEqual(
    choicesOf(preview(['ambiguous_values', 'coordinate_order', 'ambiguous_values'], { code: 'srid_required' })),
    ['sourceSrid', 'values', 'geometry'],
  )
})
