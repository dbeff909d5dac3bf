import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { type StyleSpecification, validateStyleMin } from '@maplibre/maplibre-gl-style-spec'
import { baseStyles } from './base-styles.ts'

const assets = new URL('../../../../../assets/', import.meta.url)

test('the base styles are valid, with relative addresses and with absolute ones', () => {
  assert.deepEqual(
    baseStyles().map(({ key }) => key),
    ['light', 'dark', 'blue', 'detailed'],
  )
  for (const { key, style } of baseStyles()) {
    assert.deepEqual(validateStyleMin(style), [], key)
    const absolute = JSON.stringify(style).replaceAll(/"\/(tiles|fonts|sprites)/g, '"https://maps.example/$1')
    assert.deepEqual(validateStyleMin(JSON.parse(absolute) as StyleSpecification), [], key)
  }
})

test('every font and sprite that a base style names is installed', async () => {
  const fonts = await readdir(new URL('fonts', assets))
  for (const { key, style } of baseStyles()) {
    const named = [...JSON.stringify(style).matchAll(/"(Noto Sans \w+)"/g)].map(([, name]) => name)
    assert.ok(named.length > 0)
    for (const name of named) assert.ok(fonts.includes(name ?? ''), `${key}: ${name}`)
    const icons = JSON.parse(await readFile(new URL(`.${style.sprite}.json`, assets), 'utf8'))
    for (const icon of ['capital', 'townspot', 'peak', 'aerodrome', 'train_station', 'arrow', 'generic_shield-2char']) {
      assert.ok(icons[icon], `${key}: ${icon}`)
    }
  }
})

test('each call makes its own copies', () => {
  const [first] = baseStyles()
  first?.style.layers.pop()
  assert.notEqual(first?.style.layers.length, baseStyles()[0]?.style.layers.length)
})
