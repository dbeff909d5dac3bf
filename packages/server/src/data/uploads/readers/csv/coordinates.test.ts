import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { rowsOfReader } from '../../../../../testing/uploads/decoded-rows.ts'
import { openReader } from '../open-reader.ts'
import { parseAngle } from '../table/degrees.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'csv-coordinates-'))
})
after(() => rm(directory, { recursive: true, force: true }))

async function read(content: string) {
  const file = join(directory, 'file')
  await writeFile(file, content)
  const { signal } = new AbortController()
  return rowsOfReader(await openReader(file, { fileName: 'places.csv', directory, signal, allowNativeGdal: false }))
}

/** Longitude and latitude of the rows, to seven decimals; null for a row without geometry. */
async function places(content: string): Promise<(number[] | null)[]> {
  const { rows } = await read(content)
  return rows.map(({ geometry }) => {
    const coordinates = (geometry as { coordinates: number[] } | null)?.coordinates
    return coordinates ? coordinates.map((value) => Math.round(value * 1e7) / 1e7) : null
  })
}

const warningsOf = async (content: string): Promise<string[]> =>
  (await read(content)).layer.warnings.map(({ code, message }) => `${code}: ${message}`)

test('an angle is read from degrees, minutes and seconds in every common way of writing', () => {
  const half = 60 + 10 / 60 + 12.5 / 3600
  const written: [string, number][] = [
    ['60°10\'12.5"N', half],
    ['60° 10′ 12.5″ N', half],
    ['60º10’12,5”N', half],
    ["60° 10' 12.5'' N", half],
    ['N 60 10 12.5', half],
    ['60 10.2083 N', 60 + 10.2083 / 60],
    ['60d10m12.5s', half],
    ['60d10m12.5sS', -half],
    ['60:10:12.5', half],
    ['-60 10 12.5', -half],
    ['60°10′12″ с. ш.', 60.17],
    ['北緯60度10分12秒', 60.17],
    ['60.17° S', -60.17],
  ]
  for (const [text, degrees] of written) {
    assert.ok(Math.abs((parseAngle(text)?.degrees ?? Number.NaN) - degrees) < 1e-12, text)
  }
  assert.equal(parseAngle('60°10\'12"N')?.degrees, 60.17)
  assert.equal(parseAngle("24°56'E")?.axis, 'longitude')
  const wrong = ['', 'N', '60 61 1', '60 10 60', '60.5 10', 'N-5', '6 671 234', '12m', '60°10\'12"X', '2020-01-31']
  for (const text of wrong) assert.equal(parseAngle(text), undefined, text)
})

test('columns of degrees, minutes and seconds become points', async () => {
  assert.deepEqual(
    await places(
      'name,Latitude,Longitude\nHelsinki,"60°10\'12""N","24°56\'15""E"\nMontevideo,"34°54\'S","56°9\'W"\nnone,,\n',
    ),
    [[24.9375, 60.17], [-56.15, -34.9], null],
  )
  assert.deepEqual(await places('Breite;Länge\nN 47 22 30;O 8 32 24\nN 40 42 0;W 74 0 0\n'), [
    [8.54, 47.375],
    [-74, 40.7],
  ])
})

test('an O is west where an E is seen, and east where a W is', async () => {
  assert.deepEqual(await places("latitud;longitud\n40°30'N;3°42'O\n41°24'N;2°12'E\n"), [
    [-3.7, 40.5],
    [2.2, 41.4],
  ])
})

const headings: Record<string, [latitude: string, longitude: string][]> = {
  English: [
    ['Lat', 'Long'],
    ['latitude_deg', 'longitude_deg'],
    ['Lat (°)', 'Lon (°)'],
    ['stop_lat', 'stop_lon'],
    ['Latitude (WGS84)', 'Longitude (WGS84)'],
    ['geoLat', 'geoLng'],
  ],
  German: [
    ['Breitengrad', 'Längengrad'],
    ['Geogr. Breite', 'Geogr. Länge'],
    ['geographische_breite', 'geographische_laenge'],
    ['Breite', 'Laenge'],
  ],
  French: [
    ['Latitude', 'Longitude'],
    ['Latitude (degrés)', 'Longitude (degrés)'],
  ],
  Italian: [['Latitudine', 'Longitudine']],
  Spanish: [['Latitud', 'Longitud']],
  Portuguese: [['LATITUDE (graus)', 'LONGITUDE (graus)']],
  Polish: [
    ['Szerokość geograficzna', 'Długość geograficzna'],
    ['szerokosc geogr.', 'dlugosc geogr.'],
  ],
  Dutch: [['Breedtegraad', 'Lengtegraad']],
  Romanian: [['Latitudine', 'Longitudine']],
  Russian: [
    ['Широта', 'Долгота'],
    ['Географическая широта', 'Географическая долгота'],
  ],
  Ukrainian: [['широта', 'довгота']],
  Greek: [['Γεωγραφικό πλάτος', 'Γεωγραφικό μήκος']],
  Swedish: [
    ['Latitud', 'Longitud'],
    ['Breddgrad', 'Längdgrad'],
  ],
  Finnish: [['Leveysaste', 'Pituusaste']],
  Chinese: [
    ['纬度', '经度'],
    ['緯度', '經度'],
    ['纬度(度)', '经度(度)'],
  ],
  Japanese: [
    ['緯度', '経度'],
    ['北緯', '東経'],
  ],
  Arabic: [
    ['خط العرض', 'خط الطول'],
    ['دائرة العرض', 'خط الطول'],
  ],
}

for (const [language, pairs] of Object.entries(headings)) {
  test(`headings of latitude and longitude are known in ${language}`, async () => {
    for (const [latitude, longitude] of pairs) {
      const rows = '\nA,60.1699,24.9384\nB,59.3293,18.0686\n'
      const expected = [
        [24.9384, 60.1699],
        [18.0686, 59.3293],
      ]
      assert.deepEqual(await places(`name,${latitude},${longitude}${rows}`), expected, latitude)
    }
  })
}

test('widths and lengths of things are no coordinates, and start is not paired with end', async () => {
  assert.deepEqual(await places('Teil;Länge;Breite;Höhe\nBrett;60;24,5;2\nLatte;80;4;2\n'), [null, null])
  assert.deepEqual(await places('end_lat,start_lon,start_lat,end_lon\n1.5,2.5,3.5,4.5\n'), [[2.5, 3.5]])
})

test('both coordinates in one column become points, and a warning says in which order they were read', async () => {
  const helsinki = [[24.94, 60.17]]
  for (const cell of ['"60.17, 24.94"', '"60.17,24.94"', '60.17 24.94', '"(60.17; 24.94)"', '"Lat: 60.17, Lon: 24.94"'])
    assert.deepEqual(await places(`name,Coordinates\nHelsinki,${cell}\n`), helsinki, cell)
  assert.deepEqual(await places('Ort;Koordinaten\nHelsinki;60,17, 24,94\n'), helsinki)
  assert.deepEqual(await places('name;GPS\nHelsinki;60°10\'12"N 24°56\'24"E\n'), helsinki)
  assert.match(
    (await warningsOf('name;position\nHelsinki;60.17, 24.94\n')).join(),
    /^coordinate_order: .*"position".* latitude, longitude, the usual order/,
  )
})

test('the order of two coordinates in one column is told by their heading, their ranges or their letters', async () => {
  assert.deepEqual(await places('name;lon/lat\nHelsinki;24.94, 60.17\n'), [[24.94, 60.17]])
  assert.deepEqual(await places('name;坐标\nBeijing;116.39, 39.91\nUrumqi;87.6, 43.8\n'), [
    [116.39, 39.91],
    [87.6, 43.8],
  ])
  assert.deepEqual(await places('name;where\nHelsinki;24.94°E 60.17°N\n'), [[24.94, 60.17]])
  assert.match(
    (await warningsOf('n;coords\nBeijing;116.39, 39.91\n')).join(),
    /longitude, latitude, as its values show/,
  )
})

test('titles, notes and blank lines above the heading are stepped over', async () => {
  const expected = { name: 'Helsinki', lat: 60.17, lon: 24.94 }
  const rows = 'name,lat,lon\nHelsinki,60.17,24.94\nTurku,60.45,22.27\n'
  const titles = [
    'Cities of Finland\n',
    'Cities of Finland\n\n',
    '\n\n"Cities, towns"\nSource: Statistics Finland\n\n',
    'Cities of Finland,,\n2024-01-31,"Statistics Finland",\n',
    '# exported 2024\n# by hand\n',
  ]
  for (const title of titles.slice(0, 3).concat(titles[4] ?? '')) {
    const { rows: found } = await read(title + rows)
    assert.deepEqual(found[0]?.values, expected, title)
    assert.equal(found.length, 2, title)
  }
  const decimal = await read(
    'Städte Finnlands;;\nStand: 31.1.2024;;\nName;Breite;Länge\nHelsinki;60,1699;24,9384\nTurku;60,4518;22,2666\n',
  )
  assert.deepEqual(decimal.rows[0]?.values, { Name: 'Helsinki', Breite: 60.1699, Länge: 24.9384 })
  assert.deepEqual(decimal.rows[0]?.geometry, { type: 'Point', coordinates: [24.9384, 60.1699] })
})

test('a sparse first row is data where it is no text, and a heading where it has most names', async () => {
  assert.equal((await read('1,,,\n2,3,4,5\n6,7,8,9\n')).rows.length, 3)
  assert.deepEqual((await read('a,b,\n1,2,3\n4,5,6\n')).rows[0]?.values, { a: 1, b: 2, column_3: 3 })
  assert.deepEqual((await read('Country,2019,2020\nFinland,1,2\n')).rows[0]?.values, {
    Country: 'Finland',
    2019: 1,
    2020: 2,
  })
})

test('where no geometry is found but a column looks like one, a warning says what to do', async () => {
  const cases: [string, RegExp][] = [
    ['name,latitude\nA,60.17\n', /geometry_not_found: .*"latitude".*no column is called longitude/],
    ['name,lat,lon\nA,north,east\n', /geometry_not_found: .*"lat" and "lon".*"north"/],
    ['name,geometry\nA,somewhere\n', /geometry_not_found: .*"geometry".*"somewhere".*WKT/],
    ['id,remark\n1,POINT (1 2)\n2,POINT (3 4)\n3,none there\n', /"remark".*call the column "geometry"/],
    ['a,b,c\nx,60.16991,24.93841\ny,60.45181,22.26661\n', /"b" and "c" may be coordinates.*the field geometry.*"b,c"/],
    [
      'a;range\nx;60.17, 24.94\n',
      /"range" looks like pairs of coordinates.*the field geometry: "range:lat,lon" or "range:lon,lat"/,
    ],
  ]
  for (const [content, expected] of cases) assert.match((await warningsOf(content)).join(), expected, content)
  assert.deepEqual(await warningsOf('name,size\nA,5\nB,7.5\n'), [])
})
