import { constants } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** What we use of gdal3.js. */
type Dataset = { info: { driverShortName: string } }
type Gdal = {
  open(file: string, options: string[]): Promise<{ datasets: Dataset[]; errors: unknown[] }>
  ogr2ogr(dataset: Dataset, options: string[], name: string): Promise<unknown>
}
type StartGdal = (config: object) => Promise<Gdal>

/**
 * A process of its own that reads one file by GDAL in WebAssembly and writes a GeoPackage:
 * node gdal-child.ts <directory of the library> <source> <directory of the result> <driver> [<option of ogr2ogr> …]
 * It runs in the root directory, because the library puts "./" before its paths.
 */
async function main([library = '', source = '', target = '', driver = '', ...options]: string[]): Promise<void> {
  const require = createRequire(import.meta.url)
  // The library asks for the constants in a way that a process without rights is denied.
  Object.assign(process, { binding: () => ({ fs: constants }) })
  // By its path: whoever looks for it by name looks where this process may not.
  const start: StartGdal = require(join(library, 'gdal3.node.js'))
  const gdal = await start({
    path: library,
    dest: target,
    env: { GDAL_SKIP: 'OGR_VRT', GML_SKIP_RESOLVE_ELEMS: 'ALL', GML_DOWNLOAD_SCHEMA: 'NO' },
    logHandler: () => {},
    errorHandler: (text: string) => process.stderr.write(`${text}\n`),
  })
  const { datasets } = await gdal.open(source, [])
  const dataset = datasets[0]
  if (dataset?.info.driverShortName !== driver) throw new Error(`GDAL does not read it as ${driver}.`)
  await gdal.ogr2ogr(dataset, options, 'result')
}

main(process.argv.slice(2)).then(
  () => process.exit(0),
  (error) => {
    const messages = Array.isArray(error) ? error : [error]
    for (const message of messages) process.stderr.write(`ERROR: ${message?.message ?? JSON.stringify(message)}\n`)
    process.exit(1)
  },
)
