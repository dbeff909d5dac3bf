import { constants } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import type { GdalJob } from './run.ts'

/** What we use of gdal3.js. */
type Dataset = { info: { driverShortName: string } }
type Gdal = {
  open(file: string, options: string[]): Promise<{ datasets: Dataset[]; errors: unknown[] }>
  ogr2ogr(dataset: Dataset, options: string[], name: string): Promise<unknown>
}
type StartGdal = (config: object) => Promise<Gdal>

/**
 * A process of its own that reads one file by GDAL in WebAssembly and writes a GeoPackage:
 * node gdal-child.ts <directory of the library> <directory of the result>
 * What to do comes by the standard input, maybe long after GDAL was started. It runs in the root directory, because the
 * library puts "./" before its paths.
 */
async function main([library = '', target = '']: string[]): Promise<void> {
  let hasJob = false
  const received = text(process.stdin).then((line) => {
    hasJob = true
    return line
  })
  const gdal = await startGdal(library, target)
  await setImmediate()
  if (!hasJob) await warmUp(gdal, target)
  const line = await received
  // Nobody needs it any more.
  if (line === '') return
  const { source, driver, options } = JSON.parse(line) as GdalJob
  const { datasets } = await gdal.open(source, [])
  const dataset = datasets[0]
  if (dataset?.info.driverShortName !== driver) throw new Error(`GDAL cannot read it as ${driver}.`)
  await gdal.ogr2ogr(dataset, options, 'result')
}

function startGdal(library: string, target: string): Promise<Gdal> {
  const require = createRequire(import.meta.url)
  // The library asks for the constants in a way that a process without rights is denied.
  Object.assign(process, { binding: () => ({ fs: constants }) })
  // By its path: whoever looks for it by name looks where this process may not.
  const start: StartGdal = require(join(library, 'gdal3.node.js'))
  return start({
    path: library,
    dest: target,
    env: { GDAL_SKIP: 'OGR_VRT', GML_SKIP_RESOLVE_ELEMS: 'ALL', GML_DOWNLOAD_SCHEMA: 'NO' },
    logHandler: () => {},
    errorHandler: (message: string) => process.stderr.write(`${message}\n`),
  })
}

const sample = `<FeatureCollection xmlns:gml="http://www.opengis.net/gml"><gml:featureMember><a><n>1</n><t>x</t><g>
<gml:Polygon srsName="EPSG:4326"><gml:outerBoundaryIs><gml:LinearRing><gml:coordinates>0,0 1,0 1,1 0,0</gml:coordinates>
</gml:LinearRing></gml:outerBoundaryIs></gml:Polygon></g></a></gml:featureMember></FeatureCollection>`

/** A first conversion, because functions of WebAssembly are compiled when they are first called. */
async function warmUp(gdal: Gdal, target: string): Promise<void> {
  const file = join(target, 'warm.gml')
  await writeFile(file, sample)
  const { datasets } = await gdal.open(file, [])
  const dataset = datasets[0]
  if (dataset) await gdal.ogr2ogr(dataset, ['-f', 'GPKG'], 'warm')
  for (const name of ['warm.gml', 'warm.gfs', 'warm.gpkg']) await rm(join(target, name), { force: true })
}

main(process.argv.slice(2)).then(
  () => process.exit(0),
  (error) => {
    const messages = Array.isArray(error) ? error : [error]
    for (const message of messages) process.stderr.write(`ERROR: ${message?.message ?? JSON.stringify(message)}\n`)
    process.exit(1)
  },
)
