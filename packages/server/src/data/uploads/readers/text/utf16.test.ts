import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { rowsOfReader } from '../../../../../testing/uploads/decoded-rows.ts'
import { openReader } from '../open-reader.ts'
import { detectUtf16 } from './utf16.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'utf16-'))
})
after(() => rm(directory, { recursive: true }))

async function read(content: Buffer, encoding?: string) {
  const own = await mkdtemp(join(directory, 'own-'))
  await writeFile(join(own, 'source'), content)
  const { signal } = new AbortController()
  const reader = await openReader(join(own, 'source'), {
    fileName: 'a',
    directory: own,
    signal,
    allowNativeGdal: false,
    ...(encoding !== undefined && { encoding }),
  })
  return rowsOfReader(reader).finally(() => reader.close())
}

const feature = { type: 'Feature', properties: { name: '東京' }, geometry: { type: 'Point', coordinates: [1, 2] } }
const texts = {
  'a table': 'name,lon,lat\n東京,1,2\n',
  'a table of Chinese': '名称;经度;纬度\n東京;1;2\n大阪市与京都市与神户市;3;4\n',
  GeoJSON: JSON.stringify({ type: 'FeatureCollection', features: [feature] }),
  KML: '<?xml version="1.0" encoding="UTF-16"?><kml><Placemark><name>東京</name><Point><coordinates>1,2</coordinates></Point></Placemark></kml>',
}

for (const [name, text] of Object.entries(texts)) {
  test(`${name} in UTF-16 without a mark is read in either byte order`, async () => {
    const little = Buffer.from(text, 'utf16le')
    for (const content of [little, Buffer.from(little).swap16()]) {
      const { rows } = await read(content)
      assert.equal(Object.values(rows[0]?.values ?? {})[0], '東京')
      assert.deepEqual(rows[0]?.geometry, { type: 'Point', coordinates: [1, 2] })
    }
  })
}

test('a table in UTF-16 without a mark comes with a warning that names the encoding, unless the client named it', async () => {
  const content = Buffer.from(texts['a table'], 'utf16le')
  assert.deepEqual(
    (await read(content)).layer.warnings.map(({ code, message }) => [code, /UTF-16LE/i.test(message)]),
    [['transcoded', true]],
  )
  assert.deepEqual((await read(content, 'utf-16le')).layer.warnings, [])
})

test('bytes that are no text are not taken for UTF-16', () => {
  const numbers = Buffer.alloc(4_000)
  for (let at = 0; at < numbers.length; at += 2) numbers.writeUInt16LE(at % 300, at)
  assert.equal(detectUtf16(numbers), undefined)
  assert.equal(detectUtf16(Buffer.alloc(100)), undefined)
  assert.equal(detectUtf16(Buffer.from('name,value\na,1\n')), undefined)
})
