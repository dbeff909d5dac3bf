import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeLayoutFiles } from './geojson-layouts.ts'
import { median, spread } from './server.ts'
import { makeUploadFiles } from './upload-files.ts'

// `npm run bench` has it as a section. Alone it is `node bench/readers.ts`, and `node bench/readers.ts /path/to/another/checkout`
// compares the two in turns. READERS_BENCH_ROUNDS and READERS_BENCH_ONLY=zip make it quicker.
const rounds = Number(process.env.READERS_BENCH_ROUNDS ?? 5)
const only = process.env.READERS_BENCH_ONLY ?? ''
const counts = { points: 200_000, areas: 20_000 }
const run = promisify(execFile)

type Measured = { ms: number; bytes: number; isAsGuessed: boolean; features: number }

async function measure(checkout: string, file: string): Promise<Measured> {
  const script = join(import.meta.dirname, 'read-file.ts')
  const { stdout } = await run(process.execPath, [script, checkout, file])
  return JSON.parse(stdout)
}

async function compare(name: string, path: string, other: string | undefined): Promise<string> {
  const ours: number[] = []
  const theirs: number[] = []
  const checkout = join(import.meta.dirname, '..')
  for (let round = 0; round < rounds; round++) {
    const { ms, bytes, isAsGuessed } = await measure(checkout, path)
    ours.push(ms)
    if (!isAsGuessed) throw new Error(`${name} is not loaded as guessed`)
    if (other === undefined) continue
    const there = await measure(other, path)
    if (there.bytes !== bytes) throw new Error(`${name} is ${bytes} bytes here, ${there.bytes} there`)
    theirs.push(there.ms)
  }
  const ratios = theirs.map((their, round) => their / (ours[round] ?? Number.NaN))
  const against = other === undefined ? '' : ` ${median(theirs).toFixed(0)} ms | ${spread(ratios, 2)} |`
  return `| ${name} | ${median(ours).toFixed(0)} ms |${against}`
}

/** The CPU time of reading alone, without a database. */
export async function readers(other?: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-bench-'))
  const title = `| ${counts.points} points or ${counts.areas} areas | CPU time |${other ? ' there | there / here |' : ''}`
  const lines = ['## Reading files, without a database', '', title, other ? '|---|---|---|---|' : '|---|---|']
  try {
    const files = [...(await makeUploadFiles(directory, counts)), ...(await makeLayoutFiles(directory, counts.points))]
    for (const { name, path } of files) if (name.includes(only)) lines.push(await compare(name, path, other))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
  return `${lines.join('\n')}\n`
}

if (import.meta.main) console.log(await readers(process.argv[2]))
