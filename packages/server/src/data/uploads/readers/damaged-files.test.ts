import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { rowsOfReader } from '../../../../testing/uploads/decoded-rows.ts'
import { zipOf } from '../../../../testing/uploads/zip-of.ts'
import { openReader } from './open-reader.ts'
import { ReadFault } from './reader.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'damaged-'))
})
after(() => rm(directory, { recursive: true, force: true }))

const csv =
  'name,wkt,n,d\n"a ""b""",POINT (1 2),1.5,2020-01-01\nb,"POLYGON ((0 0,1 0,1 1,0 0))",2,\n"x\ny","MULTIPOINT ((1 2),(3 4))",,2020-01-02\n'
const table = 'lat;lon;text\n1,5;2,5;"a;b"\n3,5;4,5;ü\n'
const hex =
  'id,geom\n1,0101000020E6100000000000000000F03F0000000000000040\n2,010200000002000000000000000000F03F00000000000000400000000000000840000000000000F03F\n'
const kml = `<?xml version="1.0" encoding="UTF-8"?><kml><Document><Schema id="s"><SimpleField name="a" type="int"/></Schema><Folder><name>F</name>
<Placemark><name>x &amp; y</name><ExtendedData><SchemaData><SimpleData name="a">1</SimpleData></SchemaData></ExtendedData><Polygon><outerBoundaryIs><LinearRing><coordinates>0,0 1,0 1,1 0,0</coordinates></LinearRing></outerBoundaryIs></Polygon></Placemark>
<Placemark><MultiGeometry><Point><coordinates>1,2,3</coordinates></Point><LineString><coordinates>1,2 3,4</coordinates></LineString></MultiGeometry></Placemark></Folder></Document></kml>`
const gpx = `<?xml version="1.0"?><gpx version="1.1"><wpt lat="2" lon="1"><ele>3.5</ele><time>2020-01-01T00:00:00Z</time></wpt>
<trk><name>T</name><trkseg><trkpt lat="0" lon="0"/><trkpt lat="1" lon="1"/></trkseg></trk></gpx>`
const topojson = `{"type":"Topology","transform":{"scale":[1,1],"translate":[10,20]},"arcs":[[[0,0],[1,0],[0,1],[-1,-1]]],
"objects":{"areas":{"type":"GeometryCollection","geometries":[{"type":"Polygon","id":"a","properties":{"n":1},"arcs":[[0]]},{"type":"MultiLineString","arcs":[[0],[-1]]}]}}}`

const samples: Record<string, Buffer> = {
  csv: Buffer.from(csv),
  'csv with coordinates': Buffer.from(table),
  'csv with WKB': Buffer.from(hex),
  'csv in UTF-16': Buffer.from(`\ufeff${csv}`, 'utf16le'),
  kml: Buffer.from(kml),
  gpx: Buffer.from(gpx),
  topojson: Buffer.from(topojson),
  gzip: gzipSync(csv),
}

/** The same numbers in every run. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 4294967296
  }
}

function damaged(sample: Buffer, random: () => number): Buffer {
  const bytes = Buffer.from(sample)
  const place = () => Math.floor(random() * bytes.length)
  for (let change = 0; change < 1 + random() * 5; change++) {
    bytes[place()] = random() < 0.5 ? Math.floor(random() * 256) : (bytes[place()] ?? 0)
  }
  const kind = random()
  if (kind < 0.2) return bytes.subarray(0, place())
  if (kind < 0.4) return Buffer.concat([bytes.subarray(0, place()), bytes.subarray(place())])
  return bytes
}

async function readAll(content: Buffer, name: string): Promise<void> {
  const own = join(directory, name)
  await mkdir(own)
  await writeFile(join(own, 'source'), content)
  try {
    const { signal } = new AbortController()
    const reader = await openReader(join(own, 'source'), {
      fileName: 'a',
      directory: own,
      signal,
      allowNativeGdal: false,
    })
    for (const layer of await reader.layers()) await rowsOfReader(reader, layer)
    await reader.close()
  } finally {
    await rm(own, { recursive: true })
  }
}

const rounds = 120

/** `pack` is done with the sample when it is damaged. */
async function assertOnlyFaults(sample: Buffer, name: string, pack = (content: Buffer) => content): Promise<void> {
  await readAll(pack(sample), 'whole')
  for (let seed = 1; seed <= rounds; seed++) {
    const content = pack(damaged(sample, createRandom(seed * 7919)))
    const start = performance.now()
    await readAll(content, `s${seed}`).catch((error) => {
      if (!(error instanceof ReadFault)) throw new Error(`${name}, seed ${seed}`, { cause: error })
    })
    assert.ok(performance.now() - start < 60_000, `${name}, seed ${seed} took too long`)
  }
}

for (const [name, sample] of Object.entries(samples)) {
  test(`damaged ${name} gives rows or a fault, nothing else`, () => assertOnlyFaults(sample, name))
}

const spreadsheet = `<?xml version="1.0" encoding="UTF-8"?><office:document-content xmlns:office="urn:o" xmlns:table="urn:t" xmlns:text="urn:x"><office:body><office:spreadsheet>
<table:table table:name="A"><table:table-row><table:table-cell office:value-type="string"><text:p>lat</text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>lon</text:p></table:table-cell></table:table-row>
<table:table-row table:number-rows-repeated="3"><table:table-cell office:value-type="float" office:value="1.5"/><table:table-cell office:value-type="float" office:value="2.5" table:number-columns-repeated="1"/></table:table-row></table:table>
</office:spreadsheet></office:body></office:document-content>`

test('a damaged spreadsheet of OpenDocument gives rows or a fault, nothing else', () =>
  assertOnlyFaults(Buffer.from(spreadsheet), 'ods', (content) =>
    zipOf([
      { name: 'mimetype', content: Buffer.from('application/vnd.oasis.opendocument.spreadsheet') },
      { name: 'content.xml', content },
    ]),
  ))

const hasGdal = (() => {
  try {
    return execFileSync('ogr2ogr', ['--version'], { stdio: 'pipe' }).length > 0
  } catch {
    return false
  }
})()

test('a damaged workbook gives rows or a fault, nothing else', { skip: !hasGdal }, async () => {
  await writeFile(join(directory, 'in.csv'), 'lat,lon,c\n1,2,2020-01-01\n2,3,\n')
  execFileSync(
    'ogr2ogr',
    ['-f', 'XLSX', join(directory, 'out.xlsx'), join(directory, 'in.csv'), '-oo', 'AUTODETECT_TYPE=YES'],
    { stdio: 'pipe' },
  )
  await assertOnlyFaults(await readFile(join(directory, 'out.xlsx')), 'xlsx')
})
