import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { rowsOfReader } from '../../../../../testing/uploads/decoded-rows.ts'
import { openReader } from '../open-reader.ts'
import type { ReaderOptions } from '../reader.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'geometry-columns-'))
})
after(() => rm(directory, { recursive: true, force: true }))

async function read(content: string | object, rules: Partial<ReaderOptions> = {}) {
  const file = join(directory, 'file')
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  const { signal } = new AbortController()
  const options = { fileName: 'a', directory, signal, allowNativeGdal: false, ...rules }
  const { rows, layer } = await rowsOfReader(await openReader(file, options))
  const shapes = rows.map(({ geometry }) => geometry as { type: string; coordinates: unknown } | null)
  const warnings = layer.warnings.map(({ code, message }) => `${code}: ${message}`).join('\n')
  return { shapes, places: shapes.map((shape) => shape?.coordinates ?? null), srid: layer.srid, layer, warnings, rows }
}

// The shape of `countries.json` of world-countries: latitude first, as the name says.
const countries = [
  { cca2: 'AW', latlng: [12.5, -69.96666666] },
  { cca2: 'DE', latlng: [51, 9] },
  { cca2: 'AS', latlng: [-14.33333333, -170] },
]

test('the name of a value decides which coordinate comes first, whatever it holds', async () => {
  const { places, warnings } = await read(countries)
  assert.deepEqual(places, [
    [-69.96666666, 12.5],
    [9, 51],
    [-170, -14.33333333],
  ])
  assert.match(
    warnings,
    /coordinate_order: .*"latlng" were read as latitude, longitude, as its heading shows.*"latlng:lon,lat"/,
  )
  const europe = [
    [60.17, 24.94],
    [60.45, 22.27],
  ]
  for (const name of ['latlng', 'latLng', 'lat_lng', 'latlon', 'LatLong', 'lat, lon', '[lat, lng]', 'coords_latlng']) {
    assert.deepEqual((await read(europe.map((pair) => ({ [name]: pair })))).places[0], [24.94, 60.17], name)
  }
  for (const name of ['lnglat', 'lngLat', 'lon_lat', 'lonlat', 'longlat', 'lng/lat']) {
    const pairs = europe.map(([lat, lon]) => ({ [name]: [lon, lat] }))
    assert.deepEqual((await read(pairs)).places[0], [24.94, 60.17], name)
  }
  assert.deepEqual((await read('cca2,latlng\nAF,"33,65"\nAW,"12.5,-69.97"\nDE,"51,9"\n')).places, [
    [65, 33],
    [-69.97, 12.5],
    [9, 51],
  ])
})

test('where the name does not decide, the values do, and where neither does nothing is placed and the field is named', async () => {
  for (const name of ['coordinates', 'coords', 'position', 'location', 'point']) {
    const wide = [
      [12.5, -169.97],
      [51, 9],
    ]
    assert.deepEqual((await read(wide.map((pair) => ({ [name]: pair })))).places[1], [9, 51], name)
    const narrow = await read([{ [name]: [60.17, 24.94] }, { [name]: [60.45, 22.27] }])
    assert.deepEqual(narrow.places, [null, null], name)
    assert.match(
      narrow.warnings,
      new RegExp(`neither its name nor its values .*"${name}:lat,lon" or "${name}:lon,lat"`),
    )
    const settled = await read([{ [name]: [60.17, 24.94] }], { geometry: `${name}:lat,lon` })
    assert.deepEqual(settled.places, [[24.94, 60.17]], name)
  }
  const contrary = await read([{ latlng: [116.39, 39.91] }, { latlng: [121.47, 31.23] }])
  assert.deepEqual(contrary.places, [null, null])
  assert.match(contrary.warnings, /its name says latitude, longitude, but its values show longitude, latitude/)
})

test('members like those of GeoJSON are longitude first, and nested names are read', async () => {
  const expected = [[24.94, 60.17]]
  for (const where of [
    { type: 'Point', coordinates: [24.94, 60.17] },
    { coordinates: [24.94, 60.17] },
    { lat: 60.17, lng: 24.94 },
    { lon: '24.94', lat: '60.17' },
    { _longitude: 24.94, _latitude: 60.17 },
  ]) {
    assert.deepEqual((await read([{ id: 1, location: where }])).places, expected, JSON.stringify(where))
  }
  assert.equal((await read([{ location: { lat: 60.17, lng: 24.94 } }])).warnings, '')
  assert.deepEqual((await read([{ latlng: [60.17, 24.94, 12] }])).places, expected)
  assert.deepEqual((await read([{ bbox: [6, 46, 7, 47] }])).warnings, '')
  // Lists of two numbers are no coordinates unless they are called so.
  assert.deepEqual((await read([{ range: [1.2345, 2.3456] }, { range: [3.4567, 4.5678] }])).places, [null, null])
})

test('plots are no maps: x and y, u and v, distance and speed become no points', async () => {
  // The shape of anscombe.json and normal-2d.json of vega-datasets.
  const anscombe = await read([
    { Series: 'I', X: 10, Y: 8.04 },
    { Series: 'I', X: 8, Y: 6.95 },
  ])
  assert.equal(anscombe.shapes[0], null)
  assert.match(anscombe.warnings, /"X" and "Y" may be coordinates\. If they are, give the field geometry/)
  const plot = Array.from({ length: 20 }, (_, n) => ({ x: Math.sin(n), y: Math.cos(n * 7) * 3 }))
  assert.equal((await read(plot)).shapes[0], null)
  const uv = await read(plot.map(({ x: u, y: v }) => ({ u, v })))
  assert.deepEqual([uv.shapes[0], uv.warnings], [null, ''])
  const trip = await read('trip,distance,speed\n1,24.93841,60.16991\n2,22.26661,60.45181\n')
  assert.deepEqual([trip.shapes[0], trip.warnings], [null, ''])
  const pixels = await read('x,y,colour\n0,105,red\n700,1200,blue\n')
  assert.equal(pixels.shapes[0], null)
  const speed = await read('vx,vy,speed_x,speed_y\n24.12345,60.12345,24.12345,60.12345\n')
  assert.equal(speed.shapes[0], null)
  // But x and y that look like degrees are said to be read so.
  const places = await read('X,Y,name\n24.9384,60.1699,Helsinki\n22.2666,60.4518,Turku\n')
  assert.deepEqual(places.places[0], [24.9384, 60.1699])
  assert.match(
    places.warnings,
    /coordinates_assumed: .*"X" and "Y" were read as longitude and latitude.*geometry: "none"/,
  )
  assert.equal((await read('X,Y\n24.9384,60.1699\n', { geometry: 'none' })).shapes[0], null)
})

test('a box that ends at the antimeridian has no part without width', async () => {
  const sides = (west: number, east: number) => ({ north: -34, south: -47, west, east })
  const { shapes } = await read([sides(166.7, -180), sides(180, -170), sides(180, -180)])
  assert.deepEqual(
    shapes.map((shape) => (shape?.coordinates as unknown[] | undefined)?.length),
    [1, 1, 2],
  )
})

test('the four sides of a box become a rectangle, two of them across the antimeridian', async () => {
  // The shape of country-by-geo-coordinates.json of country-json.
  const boxes = [
    { country: 'Afghanistan', north: '38.4834', south: '29.3772', west: '60.4787', east: '74.8794' },
    { country: 'Fiji', north: '-12.48', south: '-20.67', west: '177.29', east: '-178.42' },
    { country: 'Nowhere', north: null, south: null, west: null, east: null },
    { country: 'Serbia', north: 44.01, south: null, west: null, east: 21.0059 },
  ]
  const { shapes, places, warnings, layer } = await read(boxes)
  const ring = [
    [60.4787, 29.3772],
    [74.8794, 29.3772],
    [74.8794, 38.4834],
    [60.4787, 38.4834],
    [60.4787, 29.3772],
  ]
  // One of them is of two parts, so all are multi.
  assert.deepEqual(shapes[0], { type: 'MultiPolygon', coordinates: [[ring]] })
  assert.equal((places[1] as unknown[]).length, 2)
  assert.deepEqual(shapes.slice(2), [null, null])
  assert.deepEqual(layer.extent, [-180, -20.67, 180, 38.4834])
  assert.match(warnings, /box_assumed: .*"west", "south", "east", "north"/)
  for (const names of [
    'xmin,ymin,xmax,ymax',
    'min_lon,min_lat,max_lon,max_lat',
    'bbox_west,bbox_south,bbox_east,bbox_north',
    'lonMin,latMin,lonMax,latMax',
    'west_lon,south_lat,east_lon,north_lat',
    'ouest,sud,est,nord',
    'minx,miny,maxx,maxy',
  ]) {
    const box = await read(`id,${names}\n1,6.1,46.2,7.3,47.4\n`)
    assert.equal(box.shapes[0]?.type, 'Polygon', names)
    assert.deepEqual(box.layer.extent, [6.1, 46.2, 7.3, 47.4], names)
  }
  const chosen = await read('a,b,c,d\n6,46,7,47\n', { geometry: 'a,b,c,d' })
  assert.deepEqual(chosen.layer.extent, [6, 46, 7, 47])
  // Points beside a box stay points.
  assert.equal((await read('lat,lon,minx,miny,maxx,maxy\n1.5,2.5,1,2,3,4\n')).shapes[0]?.type, 'Point')
})

/** Headings and two rows, with the system that they mean; x and y in the order of the columns. */
const systems: [headings: string, x: string, y: string, srid: number | undefined][] = [
  ['E,N', '2600000', '1200000', 2056],
  ['E_LV95,N_LV95', '2600000.5', '1200000.5', 2056],
  ['GKODE,GKODN', '2683111.2', '1247222.3', 2056],
  ['Koordinate E,Koordinate N', '2683111', '1247222', 2056],
  ['E-Koordinate,N-Koordinate', '2683111', '1247222', 2056],
  ['XKOORD,YKOORD', '2683111', '1247222', 2056],
  ['lv95_e,lv95_n', '2683111', '1247222', 2056],
  ['coord_x,coord_y', '2683111', '1247222', 2056],
  ['E [m],N [m]', "2'683'111.5", "1'247'222.5", 2056],
  ['X_KOORD,Y_KOORD', '683111', '247222', 21781],
  ['Y_LV03,X_LV03', '683111', '247222', 21781],
  ['Rechtswert,Hochwert', '3477000', '5553000', 31467],
  ['RECHTSWERT,HOCHWERT', '4468000', '5333000', 31468],
  ['Ostwert,Nordwert', '32477000', '5553000', 4647],
  ['UTM32_E,UTM32_N', '477000', '5553000', 25832],
  ['utm_32_ost,utm_32_nord', '477000', '5553000', 25832],
  ['X_UTM33,Y_UTM33', '390000', '5820000', 25833],
  ['easting,northing', '530000', '180000', 27700],
  ['Eastings,Northings', '325900', '673900', 27700],
  ['bng_e,bng_n', '425000', '565000', 27700],
  ['x_lambert93,y_lambert93', '652000', '6862000', 2154],
  ['Coordonnée X,Coordonnée Y', '652000', '6862000', 2154],
  ['COORX_UTM_H30,COORY_UTM_H30', '440000', '4474000', 25830],
  ['coord_x_huso_30,coord_y_huso_30', '440000', '4474000', 25830],
  ['Gauss Boaga Est,Gauss Boaga Nord', '1514000', '5034000', 3003],
  ['x_tm06,y_tm06', '-87000', '-105000', 3763],
  ['X_RD,Y_RD', '121000', '487000', 28992],
  ['rdx,rdy', '121000', '487000', 28992],
  ['x-coördinaat,y-coördinaat', '121000', '487000', 28992],
  ['x_m34,y_m34', '2000', '340000', 31256],
  ['SWEREF99_E,SWEREF99_N', '674000', '6580000', 3006],
  ['E_TM35FIN,N_TM35FIN', '385000', '6672000', 3067],
]

test('eastings and northings are known by the names of many countries, and their range tells the system', async () => {
  for (const [headings, x, y, srid] of systems) {
    const found = await read(`id;${headings.replace(',', ';')}\n1;${x};${y}\n2;${x};${y}\n`)
    const plain = (text: string) => Number(text.replaceAll("'", ''))
    assert.deepEqual(found.places[0], [plain(x), plain(y)], headings)
    assert.equal(found.srid, srid, headings)
    assert.match(found.warnings, new RegExp(`srid_assumed: .*EPSG:${srid}.*give the field sourceSrid`), headings)
  }
})

test('the northing may come first, and X is the northing where only that is in range', async () => {
  assert.deepEqual((await read('N;E\n1247222;2683111\n')).places[0], [2683111, 1247222])
  const swapped = await read('X_LV95;Y_LV95\n1247222;2683111\n')
  assert.deepEqual([swapped.places[0], swapped.srid], [[2683111, 1247222], 2056])
  const given = await read('x;y\n247222;683111\n', { sourceSrid: 21781 })
  assert.deepEqual(given.places[0], [683111, 247222])
  assert.match(given.warnings, /coordinate_order: .*the second was read as the easting/)
})

test('columns are coordinates where sourceSrid is given, and a system that is not told is asked for', async () => {
  for (const [headings, x, y] of systems) {
    const { places } = await read(`id;${headings.replace(',', ';')}\n1;${x};${y}\n`, { sourceSrid: 32632 })
    assert.notEqual(places[0], null, headings)
  }
  for (const headings of ['x;y', 'E;N', 'east;north', 'est;nord', 'cx;cy']) {
    assert.notEqual((await read(`${headings}\n12;34\n`, { sourceSrid: 3067 })).places[0], null, headings)
  }
  const utm = await read('Ost;Nord\n477000;5553000\n')
  assert.deepEqual([utm.places[0], utm.srid], [[477000, 5553000], undefined])
  assert.match(utm.layer.sridHint ?? '', /EPSG:25832.*EPSG:25833/)
  // British or Irish: two fit, so none is taken.
  assert.match((await read('easting,northing\n425000,565000\n')).layer.sridHint ?? '', /EPSG:27700.*EPSG:2157/)
})

test('Breite and Länge are coordinates of places, and sizes of things', async () => {
  assert.deepEqual((await read('Ort;Breite;Länge\nBern;46,95;7,44\nThun;46,76;7,63\n')).places[0], [7.44, 46.95])
  assert.deepEqual((await read('Breite;Länge\n46.9480;7.4474\n')).places[0], [7.4474, 46.948])
  const boards = await read('Teil;Länge;Breite\nBrett;60,25;24,50\nLatte;80,00;4,25\n')
  assert.equal(boards.shapes[0], null)
  assert.match(boards.warnings, /"Länge" and "Breite" may be coordinates/)
  assert.deepEqual(
    (await read('Teil;Länge;Breite\nBrett;60,25;24,50\n', { geometry: 'Länge,Breite' })).places[0],
    [60.25, 24.5],
  )
})

test('the client names the geometry: columns by any name, latitude first where they are called so, names with commas', async () => {
  assert.deepEqual((await read('a,b\n24.94,60.17\n', { geometry: 'a,b' })).places[0], [24.94, 60.17])
  assert.deepEqual((await read('lat,lon\n60.17,24.94\n', { geometry: 'lat,lon' })).places[0], [24.94, 60.17])
  assert.deepEqual((await read('"a,1","b,1"\n24.94,60.17\n', { geometry: '["a,1","b,1"]' })).places[0], [24.94, 60.17])
  assert.deepEqual(
    (await read('start_lat,start_lon,end_lat,end_lon\n1,2,3,4\n', { geometry: 'end_lon,end_lat' })).places[0],
    [4, 3],
  )
  assert.deepEqual((await read('geom,shape\nPOINT (1 2),POINT (3 4)\n', { geometry: 'shape' })).places[0], [3, 4])
  assert.deepEqual((await read('h,a,b\n5,24.94,60.17\n', { geometry: 'a,b,h' })).places[0], [24.94, 60.17, 5])
  assert.deepEqual((await read([{ place: 'x', at: '60.17 24.94' }], { geometry: 'at' })).places[0], [24.94, 60.17])
  await assert.rejects(read([{ c: [60.17, 24.94] }], { geometry: 'c' }), /neither its name .*"c:lat,lon"/)
  await assert.rejects(read('a,b\n1,2\n', { geometry: 'a,c' }), /no column "c".*"a", "b"/)
})
