import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'

const pglite = new URL('..', import.meta.resolve('@electric-sql/pglite'))
const pglitePostgis = new URL('..', import.meta.resolve('@electric-sql/pglite-postgis'))

/** PostGIS as it is published: also raster, topology, geocoder and all upgrade scripts, 91 MB. */
const fullBundle = new URL('dist/postgis.tar.gz', pglitePostgis).href

/** What the extension itself needs: 34 MB. Opening takes half the time and 200 MB less memory. */
const needed = /(postgis-3\.so|proj\.db|postgis\.control|postgis--\d+\.\d+\.\d+\.sql)$/

/** Beside the packages that the cached things are made of: a fresh installation makes them anew. */
export const cacheDirectory = fileURLToPath(new URL('../../.cache/graticule/', pglite))

/** The versions of PGlite and of its PostGIS. */
export const pgliteVersion = versionOf(pglite)
export const postgisVersion = versionOf(pglitePostgis)

function versionOf(packageUrl: URL): string {
  return JSON.parse(readFileSync(new URL('package.json', packageUrl), 'utf8')).version
}

/** The address of the small bundle; of the full one where nothing can be written. */
export async function slimBundle(): Promise<string> {
  const path = join(cacheDirectory, `postgis-${postgisVersion}-stored.tar.gz`)
  if (existsSync(path)) return pathToFileURL(path).href
  try {
    await mkdir(cacheDirectory, { recursive: true })
    const temporary = `${path}.${process.pid}`
    await writeFile(temporary, await makeSlim())
    await rename(temporary, path)
    return pathToFileURL(path).href
  } catch {
    return fullBundle
  }
}

async function makeSlim(): Promise<Buffer> {
  const archive = await promisify(gunzip)(await readFile(new URL(fullBundle)))
  const kept = [...tarEntries(archive)].filter((entry) => needed.test(entry.name)).map((entry) => entry.bytes)
  const endOfArchive = Buffer.alloc(1024)
  // PGlite takes nothing but gzip, and unpacks it at every start: 0.1 s for 34 MB that are only stored, 0.3 s compressed.
  return await promisify(gzip)(Buffer.concat([...kept, endOfArchive]), { level: 0 })
}

/** Each entry with its header: blocks of 512 bytes, the name at 0, the size in octal digits at 124. */
function* tarEntries(archive: Buffer): Generator<{ name: string; bytes: Buffer }> {
  const text = (start: number, end: number): string => archive.toString('latin1', start, end).split('\0', 1)[0] ?? ''
  for (let start = 0; text(start, start + 100) !== ''; ) {
    const size = Number.parseInt(text(start + 124, start + 136), 8)
    const end = start + 512 + Math.ceil(size / 512) * 512
    yield { name: text(start, start + 100), bytes: archive.subarray(start, end) }
    start = end
  }
}
