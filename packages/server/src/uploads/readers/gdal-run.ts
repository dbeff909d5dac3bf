import { spawn } from 'node:child_process'
import { access, realpath } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ReadFault } from './reader.ts'

/** What is to be read: the file or folder and its directory, where the result goes, and the only driver allowed. */
export type GdalTask = {
  readonly source: string
  readonly sourceDirectory: string
  readonly resultDirectory: string
  readonly driver: string
  readonly signal: AbortSignal
}

const require = createRequire(import.meta.url)

const gdalLimits = { seconds: 600, memoryBytes: 2 * 1024 ** 3, resultBytes: 8 * 1024 ** 3 }

/** GeoPackage, with names for key and geometry that no column has. */
const conversion = ['-f', 'GPKG', '-lco', 'FID=gpkg_fid', '-lco', 'GEOMETRY_NAME=gpkg_geom', '-lco', 'SPATIAL_INDEX=NO']

/** GDAL compiled to WebAssembly, in a process that can read the source and write the result and nothing else. */
export async function runPortableGdal(task: GdalTask): Promise<void> {
  const child = await realpath(fileURLToPath(new URL(`./gdal-child${extname(import.meta.url)}`, import.meta.url)))
  const library = dirname(require.resolve('gdal3.js/dist/package/gdal3.node.js'))
  // Rights are given to places, however they are called.
  const sourceDirectory = await realpath(task.sourceDirectory)
  const resultDirectory = await realpath(task.resultDirectory)
  const source = join(sourceDirectory, relative(task.sourceDirectory, task.source))
  const readable = [dirname(dirname(library)), dirname(child), packageOf(child), sourceDirectory, resultDirectory]
  const limits = [`--wasm-max-mem-pages=${gdalLimits.memoryBytes / 65_536}`, '--max-old-space-size=512']
  const rights = [
    '--permission',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    `--allow-fs-write=${resultDirectory}`,
  ]
  const args = [...rights, ...limits, child, library, source, resultDirectory, task.driver, ...conversion]
  await run(process.execPath, args, {}, '/', task.signal)
}

/** The package.json that says how the child's source is to be read. */
function packageOf(child: string): string {
  return join(dirname(child), '../../../package.json')
}

const commands = { ogr2ogr: '/usr/bin/ogr2ogr', prlimit: '/usr/bin/prlimit', unshare: '/usr/bin/unshare' }

export async function hasNativeGdal(): Promise<boolean> {
  return access(commands.ogr2ogr).then(
    () => true,
    () => false,
  )
}

/** The ogr2ogr of the system, without network where that can be, without any driver but the one, within limits. */
export async function runNativeGdal({ source, resultDirectory, driver, signal }: GdalTask): Promise<void> {
  const env = {
    PATH: '/usr/bin:/bin',
    HOME: resultDirectory,
    GDAL_SKIP: (await otherDrivers(driver)).join(','),
    CPL_VSIL_CURL_ALLOWED_EXTENSIONS: '{none}',
    GDAL_HTTP_PROXY: '127.0.0.1:9',
    GDAL_HTTP_TIMEOUT: '1',
    GML_SKIP_RESOLVE_ELEMS: 'ALL',
    GML_DOWNLOAD_SCHEMA: 'NO',
    OGR_SQLITE_SYNCHRONOUS: 'OFF',
  }
  const limits = [
    `--as=${gdalLimits.memoryBytes}`,
    `--cpu=${gdalLimits.seconds}`,
    `--fsize=${gdalLimits.resultBytes}`,
    '--nofile=256',
    '--core=0',
  ]
  const target = join(resultDirectory, 'result.gpkg')
  const alone = (await canUnshare()) ? [commands.unshare, '-n', '--'] : []
  const args = [...limits, ...alone, commands.ogr2ogr, ...conversion, target, source]
  await run(commands.prlimit, args, env, resultDirectory, signal)
}

/** Every driver of this GDAL but the one, and those that the result needs. */
async function otherDrivers(driver: string): Promise<string[]> {
  const { output } = await collect(
    commands.ogr2ogr,
    ['--formats'],
    { PATH: '/usr/bin:/bin' },
    '/',
    AbortSignal.timeout(30_000),
  )
  const names = [...output.matchAll(/^ {2}(.+?) -[a-z,]+- \(/gm)].map(([, name = '']) => name)
  return names.filter((name) => name !== driver && name !== 'GPKG')
}

async function canUnshare(): Promise<boolean> {
  const probe = collect(commands.unshare, ['-n', '/bin/true'], {}, '/', AbortSignal.timeout(5_000))
  return probe.then(
    ({ code }) => code === 0,
    () => false,
  )
}

async function run(
  command: string,
  args: readonly string[],
  env: Record<string, string>,
  cwd: string,
  signal: AbortSignal,
): Promise<void> {
  const limit = AbortSignal.timeout(gdalLimits.seconds * 1000)
  const { code, errors } = await collect(command, args, env, cwd, AbortSignal.any([signal, limit]))
  signal.throwIfAborted()
  if (limit.aborted) throw new ReadFault('invalid_file', 'The file took too long to read.')
  if (code === null || code > 128) throw new ReadFault('invalid_file', 'Reading the file took too much memory or time.')
  if (code !== 0) throw new ReadFault('invalid_file', `The file cannot be read: ${reasonOf(errors)}`)
}

/** What GDAL says first, without paths of this machine. */
function reasonOf(errors: string): string {
  const line = errors.split('\n').find((text) => /^ERROR/.test(text)) ?? ''
  const reason = line
    .replace(/^ERROR( \d+)?: /, '')
    .replaceAll(/\/[^\s'"`:,]*\//g, '')
    .slice(0, 300)
  return reason || 'GDAL does not understand it.'
}

const maxOutput = 1024 * 1024

function collect(
  command: string,
  args: readonly string[],
  env: Record<string, string>,
  cwd: string,
  signal: AbortSignal,
): Promise<{ code: number | null; output: string; errors: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, cwd, signal, killSignal: 'SIGKILL', stdio: ['ignore', 'pipe', 'pipe'] })
    let [output, errors] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (output.length < maxOutput) output += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (errors.length < maxOutput) errors += text
    })
    child.on('error', (error) => {
      if (error.name !== 'AbortError') reject(error)
    })
    child.on('close', (code) => resolve({ code, output, errors }))
  })
}
