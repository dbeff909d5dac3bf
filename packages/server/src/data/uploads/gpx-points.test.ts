import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'

// One database is enough: elevations are filled in by the reader, before a row reaches the database.

let uploads: UploadApp
before(async () => {
  uploads = await uploadApp()
})
after(() => uploads.close())

const track = (...segments: (number | null)[][]): string => {
  const points = (heights: (number | null)[]) =>
    heights.map((ele, n) => `<trkpt lat="${n}" lon="0">${ele === null ? '' : `<ele>${ele}</ele>`}</trkpt>`).join('')
  return `<trk>${segments.map((heights) => `<trkseg>${points(heights)}</trkseg>`).join('')}</trk>`
}

async function heightsOf(...tracks: string[]): Promise<{ heights: unknown; warnings: string[] }> {
  const bytes = `<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1">${tracks.join('')}</gpx>`
  const done = await uploads.upload({ name: 'a.gpx', bytes })
  assert.equal(done.status, 'completed', JSON.stringify(done.error))
  const rows = await uploads.rows(done.datasetId, 'sort=fid')
  const heights = rows.map(({ geom }: { geom: { coordinates: number[][][] } }) =>
    geom.coordinates.map((line) => line.map((position) => position[2] ?? null)),
  )
  return { heights, warnings: done.warnings.map(({ code }: { code: string }) => code) }
}

test('tracks of GPX with elevation are 3D, without they are 2D', async () => {
  assert.deepEqual(await heightsOf(track([1, 2]), track([3, 4])), { heights: [[[1, 2]], [[3, 4]]], warnings: [] })
  assert.deepEqual(await heightsOf(track([null, null])), { heights: [[[null, null]]], warnings: [] })
})

test('a segment of GPX without elevation is not put at sea level: the layer is 2D, with a warning', async () => {
  const flat = [
    [
      [null, null],
      [null, null],
    ],
  ]
  assert.deepEqual(await heightsOf(track([1, 2], [null, null])), { heights: flat, warnings: ['elevation_left_out'] })
  const mixed = await heightsOf(track([1, 2]), track([null, null]))
  assert.deepEqual(mixed, { heights: [[[null, null]], [[null, null]]], warnings: ['elevation_left_out'] })
})

test('points of GPX that lack an elevation get it from their neighbours', async () => {
  assert.deepEqual(await heightsOf(track([null, 10, null, null, 40, null])), {
    heights: [[[10, 10, 20, 30, 40, 40]]],
    warnings: ['elevation_filled'],
  })
})

async function rowsOf(content: string) {
  const bytes = `<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1">${content}</gpx>`
  const done = await uploads.upload({ name: 'a.gpx', bytes })
  assert.equal(done.status, 'completed', JSON.stringify(done.error))
  return (await uploads.rows(done.datasetId, 'sort=fid')) as Record<string, unknown>[]
}

test('what GPX says of the points of tracks and routes is kept in lists, one value for each point', async () => {
  const point = (lon: number, inner: string) => `<trkpt lat="0" lon="${lon}">${inner}</trkpt>`
  const pulse = (beats: number) => `<extensions><x:hr xmlns:x="urn:x">${beats}</x:hr></extensions>`
  const first = `${point(0, `<time>2024-01-31T10:00:00Z</time>${pulse(90)}`)}${point(1, '<ele>5</ele>')}${point(2, pulse(95))}`
  const [row] = await rowsOf(`<trk><name>A</name><trkseg>${first}</trkseg></trk>`)
  assert.deepEqual(row?.times, ['2024-01-31T10:00:00Z', null, null])
  assert.deepEqual(row?.point_hr, [90, null, 95])
  assert.deepEqual([row?.name, row?.start_time], ['A', '2024-01-31T10:00:00Z'])
  const second = `${point(5, '<time>2024-01-31T11:00:00Z</time>')}${point(6, '<time>2024-01-31T11:00:05Z</time>')}`
  const [two] = await rowsOf(
    `<trk><trkseg>${first}</trkseg><trkseg>${point(4, '')}</trkseg><trkseg>${second}</trkseg></trk>`,
  )
  assert.deepEqual(two?.times, [
    ['2024-01-31T10:00:00Z', null, null],
    ['2024-01-31T11:00:00Z', '2024-01-31T11:00:05Z'],
  ])
  const stop = (lon: number, name: string) => `<rtept lat="0" lon="${lon}"><name>${name}</name></rtept>`
  const [route] = await rowsOf(`<rte><name>R</name>${stop(0, 'Start')}${stop(1, 'End')}</rte>`)
  assert.deepEqual([route?.name, route?.point_name], ['R', ['Start', 'End']])
})

test('waypoints of GPX have their times, and more names of values than are kept are told of', async () => {
  const [row] = await rowsOf('<wpt lat="1" lon="2"><time>2024-01-31T10:00:00Z</time><name>W</name></wpt>')
  assert.deepEqual([row?.name, row?.time], ['W', '2024-01-31T10:00:00Z'])
  const many = Array.from({ length: 40 }, (_, n) => `<x${n}>1</x${n}>`).join('')
  const bytes = `<gpx><trk><trkseg><trkpt lat="0" lon="0">${many}</trkpt><trkpt lat="0" lon="1"/></trkseg></trk></gpx>`
  const { warnings } = await uploads.upload({ name: 'a.gpx', bytes })
  assert.deepEqual(
    warnings.map(({ code, count }: { code: string; count: number }) => [code, count]),
    [['point_values_left_out', 8]],
  )
})
