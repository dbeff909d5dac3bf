import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { rowsOfReader } from '../../../../testing/uploads/decoded-rows.ts'
import { openReader } from './open-reader.ts'
import { ReadFault } from './reader.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'open-'))
})
after(() => rm(directory, { recursive: true, force: true }))

let opened = 0

async function open(content: string | Buffer) {
  const own = join(directory, String(opened++))
  await mkdir(own)
  await writeFile(join(own, 'source'), content)
  const { signal } = new AbortController()
  return openReader(join(own, 'source'), { fileName: 'my.file', directory: own, signal, allowNativeGdal: false })
}

const read = async (content: string | Buffer, layer?: string) => rowsOfReader(await open(content), layer)

async function faultOf(content: string | Buffer): Promise<string> {
  return read(content).then(
    () => 'none',
    (error) => (error instanceof ReadFault ? error.code : String(error)),
  )
}

const point = (...coordinates: number[]) => ({ type: 'Point', coordinates })
const geojson = JSON.stringify({ type: 'Feature', properties: { a: 'ä' }, geometry: point(1, 2) })
const kml = (inner: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document>${inner}</Document></kml>`
const gpx = (inner: string) =>
  `<?xml version="1.0"?><gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1">${inner}</gpx>`

test('files are known by their content, whatever they are called and compressed', async () => {
  for (const content of [
    geojson,
    gzipSync(geojson),
    Buffer.from(`\ufeff${geojson}`, 'utf16le'),
    Buffer.from(geojson, 'latin1'),
  ]) {
    const { rows, layer } = await read(content)
    assert.deepEqual(rows[0]?.values, { a: 'ä' })
    assert.equal(layer.name, 'my')
  }
  assert.deepEqual((await read(gzipSync('lon,lat\n1,2\n'))).rows[0]?.geometry, point(1, 2))
})

test('what cannot be read has its code', async () => {
  assert.equal(await faultOf(''), 'empty_file')
  assert.equal(await faultOf(gzipSync('')), 'empty_file')
  assert.equal(await faultOf(Buffer.from([0, 1, 2, 3, 255, 254, 7])), 'unsupported_format')
  assert.equal(await faultOf('<!DOCTYPE html><html></html>'), 'wrong_format')
  assert.equal(await faultOf('<html><body>404</body></html>'), 'wrong_format')
  assert.equal(
    await faultOf('<OGRVRTDataSource><SrcDataSource>/etc/passwd</SrcDataSource></OGRVRTDataSource>'),
    'unsupported_format',
  )
  assert.equal(await faultOf('{"geometryType":"esriGeometryPoint","features":[]}'), 'unsupported_format')
  assert.equal(await faultOf(gzipSync(gzipSync(geojson))), 'unsupported_format')
  assert.equal(await faultOf(gzipSync(Buffer.alloc(64 * 1024 * 1024, 'a,b\n'))), 'zip_limit')
  assert.equal(await faultOf(gzipSync(Buffer.from(geojson.repeat(50))).subarray(0, 60)), 'truncated')
  assert.equal(await faultOf(Buffer.concat([Buffer.from('1f8b0800', 'hex'), Buffer.alloc(40, 7)])), 'invalid_zip')
  assert.equal(await faultOf('SQLite format 3\0rubbish'), 'invalid_file')
})

test('KML gives names, folders, data of either kind, times and all geometries', async () => {
  const { rows, layer } = await read(
    kml(`<Schema id="s"><SimpleField name="code" type="string"/></Schema>
      <Folder><name>Outer</name><Folder><name>Inner</name>
      <Placemark><name>1 &amp; only</name><description><![CDATA[<b>x</b>]]></description>
        <TimeStamp><when>2020-01-02T03:04:05Z</when></TimeStamp>
        <ExtendedData><Data name="n"><value>5</value></Data><SchemaData><SimpleData name="code">42</SimpleData></SchemaData></ExtendedData>
        <Point><coordinates> 1,2,3 </coordinates></Point></Placemark></Folder></Folder>
      <Placemark><MultiGeometry><Point><coordinates>1,2</coordinates></Point><Point><coordinates>3,4,0</coordinates></Point></MultiGeometry></Placemark>
      <Placemark><Polygon><outerBoundaryIs><LinearRing><coordinates>0,0 4,0 4,4 0,0</coordinates></LinearRing></outerBoundaryIs>
        <innerBoundaryIs><LinearRing><coordinates>1,1 2,1
          2,2 1,1</coordinates></LinearRing></innerBoundaryIs></Polygon></Placemark>
      <Placemark><gx:Track xmlns:gx="x"><when>2020-01-01</when><gx:coord>1 2 3</gx:coord><gx:coord>4 5 6</gx:coord></gx:Track></Placemark>
      <Placemark><Point><coordinates>one,two</coordinates></Point></Placemark>
      <Placemark><name>nowhere</name></Placemark>`),
  )
  assert.deepEqual(rows[0]?.values, {
    name: '1 & only',
    description: '<b>x</b>',
    time: '2020-01-02T03:04:05.000Z',
    n: 5,
    code: '42',
    folder: 'Outer/Inner',
    begin: null,
    end: null,
    times: null,
  })
  assert.deepEqual(
    rows.map(({ geometry }) => geometry),
    [
      point(1, 2, 3),
      {
        type: 'MultiPoint',
        coordinates: [
          [1, 2, 0],
          [3, 4, 0],
        ],
      },
      {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0, 0],
            [4, 0, 0],
            [4, 4, 0],
            [0, 0, 0],
          ],
          [
            [1, 1, 0],
            [2, 1, 0],
            [2, 2, 0],
            [1, 1, 0],
          ],
        ],
      },
      {
        type: 'LineString',
        coordinates: [
          [1, 2, 3],
          [4, 5, 6],
        ],
      },
      null,
      null,
    ],
  )
  assert.deepEqual(
    layer.warnings.map(({ code, count }) => [code, count]),
    [
      ['invalid_geometry', 1],
      ['missing_geometry', 1],
    ],
  )
})

test('times and measured values of a KML track are kept, one for each position', async () => {
  const track = (hours: readonly number[]) =>
    `<gx:Track>${hours.map((hour) => `<when>2020-01-01T0${hour}:00:00Z</when>`).join('')}${hours.map((hour) => `<gx:coord>${hour} 2 3</gx:coord>`).join('')}
      <ExtendedData><SchemaData><gx:SimpleArrayData name="pulse"><gx:value>80</gx:value><gx:value>95</gx:value></gx:SimpleArrayData></SchemaData></ExtendedData></gx:Track>`
  const { rows } = await read(
    kml(`<Placemark>${track([1, 2])}</Placemark>
      <Placemark><gx:MultiTrack>${track([3, 4])}${track([5, 6])}</gx:MultiTrack></Placemark>`).replace(
      '<kml ',
      '<kml xmlns:gx="x" ',
    ),
  )
  const time = (hour: number) => `2020-01-01T0${hour}:00:00Z`
  assert.deepEqual(
    rows.map(({ values }) => [values.begin, values.end, values.times, values.pulse]),
    [
      ['2020-01-01T01:00:00.000Z', '2020-01-01T02:00:00.000Z', [time(1), time(2)], ['80', '95']],
      [
        '2020-01-01T03:00:00.000Z',
        '2020-01-01T06:00:00.000Z',
        [
          [time(3), time(4)],
          [time(5), time(6)],
        ],
        ['80', '95', '80', '95'],
      ],
    ],
  )
  assert.deepEqual(
    rows.map(({ geometry }) => (geometry as { type: string }).type),
    ['MultiLineString', 'MultiLineString'],
  )
})

test('GPX gives waypoints, routes and tracks as layers', async () => {
  const text = gpx(`<metadata><time>2001-01-01T00:00:00Z</time></metadata>
    <wpt lat="2" lon="1"><ele>3.5</ele><time>2020-01-01T00:00:00Z</time><name>12</name><link href="http://a"><text>t</text></link></wpt>
    <rte><name>R</name><rtept lat="0" lon="0"><name>p</name></rtept><rtept lat="1" lon="1"/></rte>
    <trk><name>T</name><trkseg><trkpt lat="0" lon="0"><time>2020-01-01T00:00:00Z</time></trkpt><trkpt lat="1" lon="1"/><trkpt lat="2" lon="2"><time>2020-01-01T01:00:00Z</time></trkpt></trkseg><trkseg><trkpt lat="9" lon="9"/></trkseg></trk>`)
  assert.deepEqual(await (await open(text)).layers(), ['waypoints', 'routes', 'tracks'])
  const [waypoint] = (await read(text, 'waypoints')).rows
  assert.deepEqual(waypoint?.values, { ele: 3.5, time: '2020-01-01T00:00:00.000Z', name: '12', link: 'http://a' })
  assert.deepEqual(waypoint?.geometry, point(1, 2, 3.5))
  const [route] = (await read(text, 'routes')).rows
  assert.deepEqual(
    [route?.values, route?.geometry],
    [
      { name: 'R', point_name: ['p', null] },
      {
        type: 'LineString',
        coordinates: [
          [0, 0],
          [1, 1],
        ],
      },
    ],
  )
  const [track] = (await read(text, 'tracks')).rows
  assert.deepEqual(track?.values, {
    name: 'T',
    start_time: '2020-01-01T00:00:00.000Z',
    end_time: '2020-01-01T01:00:00.000Z',
    times: ['2020-01-01T00:00:00Z', null, '2020-01-01T01:00:00Z'],
  })
  assert.deepEqual(track?.geometry, {
    type: 'MultiLineString',
    coordinates: [
      [
        [0, 0],
        [1, 1],
        [2, 2],
      ],
    ],
  })
})

test('XML tricks are refused', async () => {
  const entities = '<!DOCTYPE kml [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
  assert.equal(await faultOf(kml('').replace('<kml', `${entities}<kml`)), 'invalid_xml')
  assert.equal(
    await faultOf(kml(`${'<!-- -->'.repeat(20_000)}`).replace('<kml', `<!--${'x'.repeat(70_000)}-->${entities}<kml`)),
    'unsupported_format',
  )
  assert.equal(await faultOf(kml('<Placemark><name>&unknown;</name></Placemark>')), 'invalid_xml')
  assert.equal(await faultOf(kml('<Placemark><name>').replace('</Document></kml>', '')), 'truncated')
  assert.equal(await faultOf(kml('<Placemark></name>')), 'invalid_xml')
  assert.equal(await faultOf(kml('<Folder>'.repeat(300) + '</Folder>'.repeat(300))), 'invalid_xml')
  assert.equal(await faultOf(kml('').replace('UTF-8', 'KLINGON')), 'unsupported_encoding')
  assert.equal(
    await faultOf(kml(`<Placemark><name>${'x'.repeat(40 * 1024 * 1024)}</name></Placemark>`)),
    'feature_too_large',
  )
  const latin = Buffer.from(kml('<Placemark><name>Köln</name></Placemark>').replace('UTF-8', 'ISO-8859-1'), 'latin1')
  assert.equal((await read(latin)).rows[0]?.values.name, 'Köln')
})

const topology = {
  type: 'Topology',
  transform: { scale: [1, 1], translate: [10, 20] },
  arcs: [
    [
      [0, 0],
      [1, 0],
      [0, 1],
      [-1, -1],
    ],
  ],
  objects: {
    areas: {
      type: 'GeometryCollection',
      geometries: [
        { type: 'Polygon', id: 'a', properties: { n: 1, big: '@' }, arcs: [[0]] },
        { type: 'Polygon', properties: { n: 2 }, arcs: [[7]] },
        { type: null, properties: { n: 3 } },
      ],
    },
    spot: { type: 'Point', coordinates: [1, 1] },
  },
}

test('each object of TopoJSON is a layer', async () => {
  const text = JSON.stringify(topology).replace('"@"', '9007199254740993')
  const { rows } = await read(text, 'areas')
  assert.deepEqual(
    rows.map(({ values }) => values),
    [
      { n: 1, big: 9007199254740993n, id: 'a' },
      { n: 2, big: null, id: null },
      { n: 3, big: null, id: null },
    ],
  )
  assert.deepEqual(rows[0]?.geometry, {
    type: 'Polygon',
    coordinates: [
      [
        [10, 20],
        [11, 20],
        [11, 21],
        [10, 20],
      ],
    ],
  })
  assert.equal(rows[1]?.geometry, null)
  assert.deepEqual((await read(text, 'spot')).rows[0]?.geometry, point(11, 21))
  await assert.rejects(read(text, 'nothing'), { code: 'layer_not_found' })
})

test('TopoJSON that is cut, empty or stands for too much is refused', async () => {
  const text = JSON.stringify(topology)
  assert.equal(await faultOf(text.slice(0, -20)), 'truncated')
  assert.equal(await faultOf('{"type":"Topology","objects":{}}'), 'invalid_file')
  assert.equal(await faultOf('{"type":"Topology","objects":{},"arcs":[]}'), 'no_features')
  const long = {
    ...topology,
    arcs: [Array.from({ length: 5_000 }, () => [1, 1])],
    objects: { a: { type: 'MultiLineString', arcs: [Array(5_000).fill(0)] } },
  }
  assert.equal(await faultOf(JSON.stringify(long)), 'feature_too_large')
})
