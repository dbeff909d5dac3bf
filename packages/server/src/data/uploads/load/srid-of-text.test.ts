import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sridOfText } from './srid-of-text.ts'

const degrees =
  'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'
const lambert = `PROJCS["RGF93_Lambert_93",GEOGCS["GCS_RGF_1993",DATUM["D_RGF_1993",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Lambert_Conformal_Conic"],UNIT["Meter",1.0]]`

test('a reference system is known by its text only where there is no doubt', () => {
  assert.equal(sridOfText(degrees), 4326)
  assert.equal(sridOfText(degrees.replaceAll(',', ', ')), 4326)
  assert.equal(sridOfText(`PROJCS["WGS_1984_UTM_Zone_33N",${degrees},UNIT["Meter",1.0]]`), 32_633)
  assert.equal(sridOfText(`PROJCS["WGS_1984_UTM_Zone_5S",${degrees},UNIT["Meter",1.0]]`), 32_705)
  assert.equal(sridOfText(`PROJCS["x",${degrees},AUTHORITY["EPSG","2056"]]`), 2056)
  assert.equal(sridOfText(`PROJCS["x",GEOGCS["y",AUTHORITY["EPSG","4326"]],UNIT["Meter",1.0]]`), undefined)
  assert.equal(sridOfText(lambert), undefined)
  assert.equal(sridOfText(degrees.replace('298.257223563', '298.25')), undefined)
  assert.equal(sridOfText(degrees.replace('Greenwich",0.0', 'Paris",2.337')), undefined)
})

const parameters = (values: Record<string, number>): string =>
  Object.entries(values)
    .map(([name, value]) => `PARAMETER["${name}",${value}.0]`)
    .join(',')

test('systems that ESRI names without a number are known by their names and all their values', () => {
  const etrs = `GEOGCS["GCS_ETRS_1989",DATUM["D_ETRS_1989",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]`
  const laea = (name: string, east: number): string =>
    `PROJCS["${name}",${etrs},PROJECTION["Lambert_Azimuthal_Equal_Area"],${parameters({ False_Easting: east, False_Northing: 3210000, Central_Meridian: 10, Latitude_Of_Origin: 52 })},UNIT["Meter",1.0]]`
  assert.equal(sridOfText(laea('ETRS_1989_LAEA', 4321000)), 3035)
  assert.equal(sridOfText(laea('ETRS_1989_LAEA', 4321001)), undefined)
  assert.equal(sridOfText(laea('Mine', 4321000)), undefined)
  const utm = (zone: number, meridian: number): string =>
    `PROJCS["ETRS_1989_UTM_Zone_${zone}N",${etrs},PROJECTION["Transverse_Mercator"],${parameters({ False_Easting: 500000, False_Northing: 0, Central_Meridian: meridian })},PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]`
  assert.equal(sridOfText(utm(32, 9)), 25_832)
  assert.equal(sridOfText(utm(32, 15)), undefined)
  assert.equal(sridOfText(utm(50, 117)), undefined)
})
