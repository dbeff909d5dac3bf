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
