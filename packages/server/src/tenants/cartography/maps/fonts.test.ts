import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { createDirectoryStore } from '../../../kernel/storage/directory-store.ts'
import { createFonts, type Fonts } from './fonts.ts'
import { composeStacks } from './glyph-stack.ts'

const message = (number: number, bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes])
/** A glyph: its code point, and a letter as its picture. */
const glyph = (codePoint: number, picture: string): Buffer =>
  message(3, Buffer.concat([Buffer.from([8, codePoint]), message(2, Buffer.from(picture))]))
const stack = (...glyphs: Buffer[]): Buffer =>
  message(1, Buffer.concat([message(1, Buffer.from('x')), message(2, Buffer.from('0-255')), ...glyphs]))

let folder: string
let fonts: Fonts
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fonts-'))
  const put = async (path: string, bytes: Buffer) => {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), bytes)
  }
  await put('own/fonts/One/0-255.pbf.gz', gzipSync(stack(glyph(65, 'a'), glyph(66, 'b'))))
  await put('own/fonts/Two/0-255.pbf', stack(glyph(66, 'B'), glyph(67, 'C')))
  await put('own/fonts/Two/256-511.pbf', stack(glyph(1, 'z')))
  await put('own/fonts/Empty/readme.txt', Buffer.from('no glyphs'))
  await put('own/fonts/stray.pbf', Buffer.from('no folder'))
  await put('operator/fonts/Two/0-255.pbf', stack(glyph(67, 'D')))
  await put('operator/fonts/Broken/0-255.pbf', Buffer.from([10, 200, 1, 1]))
  fonts = await fontsOf('own')
})
after(() => rm(folder, { recursive: true }))

const fontsOf = (...names: string[]): Promise<Fonts> =>
  createFonts(
    names.map((name) => createDirectoryStore(join(folder, name))),
    (error) => assert.fail(String(error)),
  )

async function read(from: Fonts, fontstack: string, range = '0-255'): Promise<Buffer | undefined> {
  const found = await from.range(fontstack, range)
  return found && (found.isGzip ? gunzipSync(found.bytes) : found.bytes)
}

test('only folders that hold ranges of glyphs are fonts', () => assert.deepEqual(fonts.names(), ['One', 'Two']))

test('one font is answered with its file as it is', async () => {
  assert.deepEqual(await read(fonts, 'Two'), stack(glyph(66, 'B'), glyph(67, 'C')))
  assert.equal((await fonts.range('One', '0-255'))?.isGzip, true)
})

test('of several fonts the first that has a character gives its glyph, and unknown fonts are skipped', async () => {
  const expected = message(
    1,
    Buffer.concat([
      message(1, Buffer.from('One,Two')),
      message(2, Buffer.from('0-255')),
      ...[glyph(65, 'a'), glyph(66, 'b'), glyph(67, 'C')],
    ]),
  )
  assert.deepEqual(await read(fonts, 'One,Nowhere, Two'), expected)
  assert.deepEqual(await read(fonts, 'One,Two,One'), expected)
})

test('a known font without the range gives an empty stack, and no known font gives nothing', async () => {
  assert.deepEqual(await read(fonts, 'One', '256-511'), composeStacks('One', '256-511', []))
  assert.equal(await fonts.range('Nowhere', '0-255'), undefined)
  assert.equal(await fonts.range('', '0-255'), undefined)
})

test('only whole blocks of 256 characters of the basic plane are ranges', async () => {
  for (const range of ['', '0', '0-254', '1-256', '00-255', '65536-65791', '0-255 ', '-0-255', '256-0', '../0-255']) {
    assert.equal(await fonts.range('One', range), undefined, range)
  }
  assert.ok(await fonts.range('One', '65280-65535'))
})

test('an operator’s folder replaces a font of the same name; a directory that is missing has none', async () => {
  const both = await fontsOf('own', 'operator', 'missing')
  assert.deepEqual(both.names(), ['Broken', 'One', 'Two'])
  assert.deepEqual(await read(both, 'Two'), stack(glyph(67, 'D')))
})

test('a damaged file of glyphs is refused, not sent on in a composite', async () => {
  const both = await fontsOf('own', 'operator')
  await assert.rejects(both.range('One,Broken', '0-255'), /not a file of glyphs/)
})
