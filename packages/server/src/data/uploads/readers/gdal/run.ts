import { spawn } from 'node:child_process'
import { access, realpath } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, extname, join, relative } from 'node:path'
import type { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { lowerProcessPriority } from '../../../../kernel/concurrency/priority.ts'
import { type GdalTask, ReadFault } from '../reader.ts'

const require = createRequire(import.meta.url)

/** The time depends on the size: GDAL reads about 13 MB a second, and a small file may not take long. */
const gdalLimits = {
  seconds: { least: 120, perMegabyte: 1, most: 600 },
  memoryBytes: 2 * 1024 ** 3,
  resultBytes: 8 * 1024 ** 3,
}

/** GeoPackage, with names for key and geometry that no column has. */
const conversionTo = ({ keepsIds }: GdalTask): string[] => [
  ...['-f', 'GPKG', '-lco', 'FID=gpkg_fid', '-lco', 'GEOMETRY_NAME=gpkg_geom', '-lco', 'SPATIAL_INDEX=NO'],
  ...(keepsIds ? ['-preserve_fid'] : []),
]

/** GDAL compiled to WebAssembly, in a process that can read the source and write the result and nothing else. */
export type PortableGdal = {
  /** Once: the process ends with it. */
  convert(task: GdalTask): Promise<void>
  end(): void
  readonly ended: Promise<unknown>
}

/** Starts it before there is anything to do. It gets rights to these two directories, which must exist. */
export async function startPortableGdal(sourceDirectory: string, resultDirectory: string): Promise<PortableGdal> {
  const child = await realpath(fileURLToPath(new URL(`./child${extname(import.meta.url)}`, import.meta.url)))
  const library = dirname(require.resolve('gdal3.js/dist/package/gdal3.node.js'))
  // Rights are given to places, however they are called.
  const [from, to] = [await realpath(sourceDirectory), await realpath(resultDirectory)]
  const readable = [dirname(dirname(library)), dirname(child), packageOf(child), from, to]
  const limits = [`--wasm-max-mem-pages=${gdalLimits.memoryBytes / 65_536}`, '--max-old-space-size=512']
  const rights = ['--permission', ...readable.map((path) => `--allow-fs-read=${path}`), `--allow-fs-write=${to}`]
  const started = startProcess(process.execPath, [...rights, ...limits, child, library, to], {}, '/')
  return {
    convert(task) {
      const source = join(from, relative(sourceDirectory, task.source))
      const job: GdalJob = { source, driver: task.driver, options: conversionTo(task) }
      if (started.pid !== undefined) task.onStarted?.(started.pid)
      started.stdin.end(JSON.stringify(job))
      return finish(started, task)
    },
    end: started.kill,
    ended: started.closed,
  }
}

/** What the process is told. */
export type GdalJob = { source: string; driver: string; options: string[] }

/** Converts in a process that is started for it. */
export async function runPortableGdal(task: GdalTask): Promise<void> {
  const gdal = await startPortableGdal(task.sourceDirectory, task.resultDirectory)
  await gdal.convert(task)
}

/** The package.json that says how the child's source is to be read. */
function packageOf(child: string): string {
  return join(dirname(child), '../../../../package.json')
}

const commands = { ogr2ogr: '/usr/bin/ogr2ogr', prlimit: '/usr/bin/prlimit', unshare: '/usr/bin/unshare' }

export async function hasNativeGdal(): Promise<boolean> {
  return access(commands.ogr2ogr).then(
    () => true,
    () => false,
  )
}

/** The ogr2ogr of the system, without network where that can be, without any driver but the one, within limits. */
export async function runNativeGdal(task: GdalTask): Promise<void> {
  const { source, resultDirectory, driver } = task
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
    `--cpu=${secondsFor(task)}`,
    `--fsize=${gdalLimits.resultBytes}`,
    '--nofile=256',
    '--core=0',
  ]
  const target = join(resultDirectory, 'result.gpkg')
  const alone = (await canUnshare()) ? [commands.unshare, '-n', '--'] : []
  const args = [...limits, ...alone, commands.ogr2ogr, ...conversionTo(task), target, source]
  const started = startProcess(commands.prlimit, args, env, resultDirectory)
  started.stdin.end()
  await finish(started, task)
}

/** Every driver of this GDAL but the one, and those that the result needs. */
async function otherDrivers(driver: string): Promise<string[]> {
  const { output } = await probe(commands.ogr2ogr, ['--formats'], 30_000)
  const names = [...output.matchAll(/^ {2}(.+?) -[a-z,]+- \(/gm)].map(([, name = '']) => name)
  return names.filter((name) => name !== driver && name !== 'GPKG')
}

async function canUnshare(): Promise<boolean> {
  const { code } = await probe(commands.unshare, ['-n', '/bin/true'], 5_000)
  return code === 0
}

async function probe(command: string, args: readonly string[], milliseconds: number): Promise<Collected> {
  const started = startProcess(command, args, { PATH: '/usr/bin:/bin' }, '/')
  started.stdin.end()
  const timer = setTimeout(started.kill, milliseconds)
  return started.closed.finally(() => clearTimeout(timer))
}

/** Waits for its end, as long as the task may take. */
async function finish({ closed, kill }: GdalProcess, task: GdalTask): Promise<void> {
  const { signal, onAdvance } = task
  const limit = AbortSignal.timeout(secondsFor(task) * 1000)
  const stop = AbortSignal.any([signal, limit])
  if (stop.aborted) kill()
  stop.addEventListener('abort', kill, { once: true })
  // GDAL tells nothing of how far it is: its own limit of time stands for progress.
  const ticking = setInterval(() => onAdvance?.(1), tickMs)
  const { code, errors } = await closed.finally(() => {
    clearInterval(ticking)
    stop.removeEventListener('abort', kill)
  })
  signal.throwIfAborted()
  if (limit.aborted) {
    throw new ReadFault('read_timeout', `Reading the file took longer than ${secondsFor(task)} s and was stopped.`)
  }
  if (code === null || code > 128)
    throw new ReadFault('invalid_file', 'Reading the file took too much memory or time and was stopped.')
  if (code !== 0) throw new ReadFault('invalid_file', `The file cannot be read: ${reasonOf(errors)}`)
}

const tickMs = 1_000

function secondsFor({ bytes }: GdalTask): number {
  const { least, perMegabyte, most } = gdalLimits.seconds
  return Math.ceil(Math.min(most, least + (bytes / 1e6) * perMegabyte))
}

/** What GDAL says first, without paths of this machine. */
function reasonOf(errors: string): string {
  const line = errors.split('\n').find((text) => /^ERROR/.test(text)) ?? ''
  const reason = line
    .replace(/^ERROR( \d+)?: /, '')
    .replaceAll(/\/[^\s'"`:,]*\//g, '')
    .slice(0, 300)
  return reason || 'GDAL gave no reason.'
}

const maxOutput = 1024 * 1024

type Collected = { code: number | null; output: string; errors: string }
type GdalProcess = {
  readonly pid: number | undefined
  readonly stdin: Writable
  readonly closed: Promise<Collected>
  kill(): void
}

function startProcess(command: string, args: readonly string[], env: Record<string, string>, cwd: string): GdalProcess {
  const child = lowerProcessPriority(spawn(command, args, { env, cwd, stdio: 'pipe' }))
  let [output, errors] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (output.length < maxOutput) output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (errors.length < maxOutput) errors += text
  })
  // It may have ended before it was told anything; its code says why.
  child.stdin.on('error', () => undefined)
  const closed = new Promise<Collected>((resolve) => {
    child.on('error', () => resolve({ code: null, output, errors }))
    child.on('close', (code) => resolve({ code, output, errors }))
  })
  return { pid: child.pid, stdin: child.stdin, closed, kill: () => void child.kill('SIGKILL') }
}
