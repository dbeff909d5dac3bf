import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { zipOf } from '../../../testing/uploads/zip-of.ts'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'

// Reference systems that a .prj file describes without their number. On both databases: the rows are transformed by SQL.

let uploads: UploadApp
before(async () => {
  uploads = await uploadApp()
})
after(() => uploads.close())

/** A .shp file with one point. */
function shpOf([x, y]: readonly [number, number]): Buffer {
  const bytes = Buffer.alloc(128)
  bytes.writeInt32BE(9994, 0)
  bytes.writeInt32BE(bytes.length / 2, 24)
  bytes.writeInt32LE(1000, 28)
  bytes.writeInt32LE(1, 32)
  for (const [index, value] of [x, y, x, y].entries()) bytes.writeDoubleLE(value, 36 + 8 * index)
  bytes.writeInt32BE(1, 100)
  bytes.writeInt32BE(10, 104)
  bytes.writeInt32LE(1, 108)
  bytes.writeDoubleLE(x, 112)
  bytes.writeDoubleLE(y, 120)
  return bytes
}

const degree = 'PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'
const etrs = `GEOGCS["GCS_ETRS_1989",DATUM["D_ETRS_1989",SPHEROID["GRS_1980",6378137.0,298.257222101]],${degree}`
const bessel = `GEOGCS["GCS_CH1903",DATUM["D_CH1903",SPHEROID["Bessel_1841",6377397.155,299.1528128]],${degree}`

// Where GDAL puts them.
const systems = {
  'of a number, under its usual name': {
    prj: `PROJCS["CH1903_LV03",${bessel},PROJECTION["Hotine_Oblique_Mercator_Azimuth_Center"],PARAMETER["False_Easting",600000.0],PARAMETER["False_Northing",200000.0],PARAMETER["Scale_Factor",1.0],PARAMETER["Azimuth",90.0],PARAMETER["Longitude_Of_Center",7.439583333333333],PARAMETER["Latitude_Of_Center",46.95240555555556],UNIT["Meter",1.0]]`,
    point: [680_000, 240_000],
    place: ['8.496542', '47.306030'],
  },
  'of no number': {
    prj: `PROJCS["ETRS_1989_LAEA_52N_10E",${etrs},PROJECTION["Lambert_Azimuthal_Equal_Area"],PARAMETER["False_Easting",4321000.0],PARAMETER["False_Northing",3210000.0],PARAMETER["Central_Meridian",10.0],PARAMETER["Latitude_Of_Origin",52.0],UNIT["Meter",1.0]]`,
    point: [4_000_000, 3_000_000],
    place: ['5.517796', '50.024119'],
  },
} as const

for (const [name, { prj, point, place }] of Object.entries(systems)) {
  test(`coordinates in a system ${name} are brought to where they are`, async () => {
    const bytes = zipOf([
      { name: 'a.shp', content: shpOf(point) },
      { name: 'a.prj', content: Buffer.from(prj) },
    ])
    const done = await uploads.upload({ name: 'a.zip', bytes })
    assert.equal(done.status, 'completed', JSON.stringify(done.error))
    const [{ geom }] = await uploads.rows(done.datasetId)
    assert.deepEqual(
      geom.coordinates.map((value: number) => value.toFixed(6)),
      place,
    )
  })
}
