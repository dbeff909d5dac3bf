import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

// Reads one file as an upload does, by the readers of one checkout; says how much CPU time the guess and the load took.
const [checkout = '', file = ''] = process.argv.slice(2)
const { openReader } = (await import(
  join(checkout, 'packages/server/src/data/uploads/readers/open-reader.ts')
)) as Readers
const directory = await mkdtemp(join(tmpdir(), 'graticule-bench-read-'))
const { signal } = new AbortController()
const reader = await openReader(file, { fileName: basename(file), directory, signal, allowNativeGdal: false })
const [layer = ''] = await reader.layers()
const before = process.cpuUsage()
const guess = await reader.guess(layer, { signal })
if (!guess) throw new Error('There is nothing to guess by')
const fields = guess.fields.map(({ type }, field) => ({ kind: 'field' as const, field, type }))
const geometry = { kind: 'geometry' as const, srid: 4326, hasZ: false, isMulti: false }
const rows = reader.load(layer, [{ kind: 'fid' }, ...fields, geometry], { signal })
let bytes = 0
let step = await rows.next()
for (; !step.done; step = await rows.next()) bytes += step.value.length
const { user, system } = process.cpuUsage(before)
await reader.close()
await rm(directory, { recursive: true })
const { isAsGuessed, layer: loaded } = step.value
console.log(JSON.stringify({ ms: (user + system) / 1000, bytes, isAsGuessed, features: loaded.featureCount }))

type Readers = typeof import('../packages/server/src/data/uploads/readers/open-reader.ts')
