import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { zipOf } from '../../../testing/uploads/zip-of.ts'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'

// One database is enough: a format is known by the bytes of the file, before a row of it reaches the database.

const run = promisify(execFile)
let uploads: UploadApp
let directory: string
before(async () => {
  uploads = await uploadApp()
  directory = await mkdtemp(join(tmpdir(), 'graticule-unknown-'))
})
after(async () => {
  await uploads.close()
  await rm(directory, { recursive: true, force: true })
})

/** An image with a place on the map, as GDAL writes it. */
async function raster(driver: string): Promise<Buffer> {
  const grid = join(directory, 'grid.asc')
  await writeFile(grid, 'ncols 2\nnrows 2\nxllcorner 8\nyllcorner 47\ncellsize 1\n1 2\n3 4\n')
  const file = join(directory, `image.${driver}`)
  await run('gdal_translate', ['-q', '-ot', 'Byte', '-a_srs', 'EPSG:4326', '-of', driver, grid, file])
  return readFile(file)
}

async function packed(command: string, ...args: string[]): Promise<Buffer> {
  await writeFile(join(directory, 'table.csv'), 'a,b\n1,2\n')
  const { stdout } = await run(command, args, { cwd: directory, encoding: 'buffer' })
  return stdout
}

function database(): Promise<Buffer> {
  const file = join(directory, 'plain.sqlite')
  {
    using opened = new DatabaseSync(file)
    opened.exec('CREATE TABLE towns (name text)')
  }
  return readFile(file)
}

const ole = (part: string): Buffer =>
  Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(504), Buffer.from(`${part}\0`, 'utf16le')])

/** A document of nothing but text, which looks like a table of one column. */
const plainPdf = '%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n'

type Make = () => Buffer | string | Promise<Buffer>

/** Told by the answer to the request itself. */
const atOnce: Record<string, [make: Make, looksLike: RegExp]> = {
  'a PDF of plain text': [() => plainPdf, /a PDF document/],
  'a PDF of GDAL': [() => raster('PDF'), /a PDF document/],
  'a PNG': [() => raster('PNG'), /a PNG image.*Convert images and grids/],
  'a JPEG': [() => raster('JPEG'), /a JPEG image/],
  'a GeoTIFF': [() => raster('GTiff'), /a GeoTIFF/],
  'an ASCII grid': [() => raster('AAIGrid'), /an Esri ASCII grid/],
  'a Word document of old': [() => ole('WordDocument'), /an old Word document/],
  'an Excel workbook of old': [() => ole('Workbook'), /an old Excel workbook.*Save it as \.xlsx or CSV/],
  'a presentation of old': [() => ole('PowerPoint Document'), /an old PowerPoint/],
  'a Word document': [
    () => zipOf([{ name: '[Content_Types].xml' }, { name: 'word/document.xml' }]),
    /a Word document \(\.docx\)/,
  ],
  'a text of OpenDocument': [
    () => zipOf([{ name: 'mimetype', method: 0, content: Buffer.from('application/vnd.oasis.opendocument.text') }]),
    /an OpenDocument text/,
  ],
  'a DWG': [() => 'AC1032\0\0\0\0', /a DWG drawing.*Save it as DXF/],
  'an MP4': [() => '\0\0\0\x18ftypmp42\0\0\0\0', /an MP4/],
  'a program': [() => '\x7fELF\x02\x01\x01', /a program/],
  'an SQL dump': [() => '-- a dump\n\nCREATE TABLE a (b int);\nINSERT INTO a VALUES (1);\n', /an SQL dump/],
  'a tar archive': [() => packed('tar', 'c', 'table.csv'), /a tar archive.*Unpack it/],
  'a 7z archive': [() => Buffer.from('377abcaf271c0004', 'hex'), /a 7z archive/],
  'a RAR archive': [() => 'Rar!\x1a\x07\x01\0', /a RAR archive/],
  'the .prj of a Shapefile': [() => 'GEOGCS["WGS 84",DATUM["WGS_1984"]]', /\.prj file.*together in a zip/],
  'an RTF document': [() => '{\\rtf1\\ansi}', /an RTF document/],
}

for (const [what, [make, looksLike]] of Object.entries(atOnce)) {
  test(`${what} is named in the answer to the upload, with what is supported`, async () => {
    const made = await make()
    const bytes = typeof made === 'string' ? Buffer.from(made, 'latin1') : made
    const { status, body } = await uploads.send({ name: 'map.geojson', bytes })
    assert.equal(status, 200)
    assert.equal(body.status, 'failed')
    assert.equal(body.error.code, 'unsupported_format')
    assert.match(body.error.message, looksLike)
    assert.match(body.error.message, /Supported formats: GeoJSON, zipped Shapefile, GeoPackage/)
    assert.ok(body.finishedAt)
    assert.equal((await uploads.ended(body.id)).status, 'failed')
  })
}

test('an empty file is named in the answer to the upload', async () => {
  const { body } = await uploads.send({ name: 'a.csv', bytes: '' })
  assert.deepEqual([body.status, body.error.code], ['failed', 'empty_file'])
})

/** Known only when the file is read. */
const later: Record<string, [make: Make, message: RegExp]> = {
  'a SQLite database': [database, /a SQLite database without the tables of a GeoPackage.*Supported formats/],
  'a web page': [() => '<!doctype html><html></html>', /a web page \(HTML\).*Supported formats/],
  'a drawing in SVG': [() => '<svg xmlns="http://www.w3.org/2000/svg"></svg>', /an SVG image/],
  'the error message of a WFS': [
    () => '<ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows" xmlns:gml="http://www.opengis.net/gml"/>',
    /an error message from a WFS/,
  ],
  'XML of another kind': [() => '<?xml version="1.0"?><invoices><invoice/></invoices>', /root element <invoices>/],
  'bytes of any kind': [() => Buffer.from('00010203fffe0708090a', 'hex'), /bytes 00 01 02 03 ff fe 07 08\. Supported/],
  'a PDF in gzip': [() => gzipSync(plainPdf), /a PDF document/],
  'a zip of documents': [
    () => zipOf([{ name: 'report.pdf' }, { name: 'notes.docx' }, { name: 'folder/' }]),
    /no data of a supported format, only "report\.pdf", "notes\.docx"\. Supported formats/,
  ],
  'a zip of many files': [
    () => zipOf(Array.from({ length: 14 }, (_, n) => ({ name: `photo ${n}.jpg` }))),
    /only "photo 0\.jpg", .*"photo 9\.jpg" and 4 more\./,
  ],
  'a zip of one image': [async () => zipOf([{ name: 'a.png', content: await raster('PNG') }]), /a PNG image/],
}

for (const [what, [make, message]] of Object.entries(later)) {
  test(`${what} is named in the error of the upload`, async () => {
    const done = await uploads.upload({ name: 'a file', bytes: await make() })
    assert.equal(done.status, 'failed')
    assert.match(done.error.code, /unsupported_format|wrong_format/)
    assert.match(done.error.message, message)
  })
}

test('a table whose words look like the beginning of another format is loaded', async () => {
  for (const heading of ['GIF,BM', 'MZ;II', 'PRAGMA,b', 'SET,b', 'ncols,nrows', 'Rar!,b', '%PDF,b', '-- a,b']) {
    const done = await uploads.upload({ name: 'a.csv', bytes: `${heading}\n1,2\n3,4\n` })
    assert.equal(done.status, 'completed', `${heading}: ${JSON.stringify(done.error)}`)
  }
})

test('nothing is left of them on disk', async () => {
  assert.deepEqual(await uploads.leftovers(), [])
})
