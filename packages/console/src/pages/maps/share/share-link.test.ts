import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frameSnippet, keyInFragment, readOrigins, type ShareOptions, shareKey, sharePath } from './share-link.ts'

const options: ShareOptions = {
  use: 'link',
  styleId: 's',
  name: 'Cities',
  tileSourceIds: ['t'],
  datasetIds: [],
  allowedOrigins: [],
  expiresAt: null,
}

test('a share’s key shows one style and its tiles, and does nothing else', () => {
  assert.deepEqual(shareKey(options).permissions, { styles: { execute: ['s'] }, tiles: { execute: ['t'] } })
  assert.deepEqual(shareKey({ ...options, tileSourceIds: [], datasetIds: ['d'] }).permissions, {
    styles: { execute: ['s'] },
    tiles: { execute: ['d'] },
    datasets: { execute: ['d'] },
  })
  assert.deepEqual(shareKey({ ...options, tileSourceIds: [] }).permissions, { styles: { execute: ['s'] } })
})

test('the key stands in the fragment of the address and is read from there', () => {
  const path = sharePath('s', 'a key&more')
  assert.equal(keyInFragment(path.slice(path.indexOf('#'))), 'a key&more')
  assert.equal(keyInFragment(''), null)
})

test('a title cannot break out of the frame’s HTML', () => {
  assert.match(
    frameSnippet('https://x/#key=1&a', '"><script>'),
    /src="https:\/\/x\/#key=1&amp;a" title="&quot;>&lt;script>"/,
  )
})

test('origins are read in any separation, and what is none is named', () => {
  assert.deepEqual(readOrigins('https://a.example, http://b.example:8080\n').origins, [
    'https://a.example',
    'http://b.example:8080',
  ])
  assert.match(readOrigins('a.example').fault ?? '', /“a.example” is not an origin/)
  assert.match(readOrigins('https://a.example/').fault ?? '', /without a path/)
})
