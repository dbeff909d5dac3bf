import { openAsBlob } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { type Case, ourName, type Part } from '../part.ts'
import type { Server } from '../processes.ts'
import { makeGeoJson, makePointsCsv, type UploadFile } from '../uploads/upload-files.ts'
import { askOften, followUpload, type Phase, percentilesOf, phases, type Waits } from '../uploads/waits.ts'

const rows = 1_000_000
const smallRows = 1_000
const beforeMs = 10_000
const againMs = 100

/** What the p95 of each phase is to be at most. */
const wanted = { most: 300 }

export const uploadWaits: Part = {
  name: 'uploadWaits',
  about:
    'How long a request of one row takes while a million points are uploaded to the embedded database, which has one session for all: asked every 100 ms from before the upload until its overviews are built. With them, how long the first map of the new data takes, the four tiles of zoom 1, asked for as soon as the upload is completed.',
  seconds: 1500,
  isOnDemand: true,
  async *cases(bench) {
    for (const upload of await uploadsOf(bench)) yield* waitsOf(bench, upload)
  },
}

type Headers = Bench['headers']
type Upload = { readonly file: UploadFile; readonly about: string; readonly fields: Readonly<Record<string, string>> }

async function uploadsOf({ directory, isQuick }: Bench): Promise<Upload[]> {
  const count = isQuick ? rows / 10 : rows
  const geojson = await makeGeoJson(directory, 'points', count)
  const csv = await makePointsCsv(directory, count)
  return [
    { file: geojson, about: 'GeoJSON', fields: {} },
    { file: csv, about: 'CSV with a key', fields: {} },
    { file: geojson, about: 'GeoJSON, transformed', fields: { targetSrid: '3857' } },
  ]
}

async function* waitsOf(bench: Bench, upload: Upload): AsyncGenerator<Case> {
  const server = await bench.startGraticule({
    DATABASE_URL: '',

    DATA_DIR: join(bench.directory, upload.about),
  })
  const { waits, mapMs, seconds } = await measure(bench, server, upload)
  for (const phase of phases.filter((one) => waits[one].length > 0)) {
    for (const [name, value] of Object.entries(percentilesOf(waits[phase]))) {
      const work = `one row, ${phase} (${upload.about}): ${name}`
      yield oneCase(work, 'ms', value, name === 'p95' ? wanted : undefined)
    }
  }
  yield oneCase(`the first map (${upload.about})`, 'ms', mapMs)
  yield oneCase(`from the first byte to the overviews (${upload.about})`, 's', seconds)
  await bench.stopServers()
}

const oneCase = (work: string, unit: Case['unit'], value: number, goal?: Case['wanted']): Case => ({
  work,
  unit,
  better: 'less',
  longRounds: 1,
  ...(goal && { wanted: goal }),
  contenders: [{ name: ourName, measure: async () => ({ value }) }],
})

type Measured = { readonly waits: Waits; readonly mapMs: number; readonly seconds: number }

async function measure(bench: Bench, server: Server, { file, fields }: Upload): Promise<Measured> {
  const small = await send(server, bench.headers, await makePointsCsv(bench.directory, smallRows), {})
  const { datasetId } = await followUpload(server, bench.headers, small, () => undefined)
  let phase: Phase = 'before'
  const asking = askOften(
    (n) => askRow(server, bench.headers, datasetId, n),
    () => phase,
  )
  await sleep(beforeMs)
  phase = 'receiving'
  const begun = performance.now()
  const id = await send(server, bench.headers, file, fields)
  let map: Promise<number> | undefined
  const record = await followUpload(server, bench.headers, id, (now, { tileSourceId }) => {
    phase = now
    if (now === 'drawing') map ??= firstMap(server, bench.headers, tileSourceId)
  })
  const seconds = (performance.now() - begun) / 1000
  if (record.featureCount !== file.features) throw new Error(JSON.stringify(record))
  return { waits: await asking.end(), mapMs: (await map) ?? Number.NaN, seconds }
}

async function send(
  { url }: Server,
  headers: Headers,
  { path, name }: UploadFile,
  fields: Readonly<Record<string, string>>,
): Promise<string> {
  const body = new FormData()
  for (const [field, value] of Object.entries(fields)) body.append(field, value)
  body.append('file', await openAsBlob(path), name)
  const reply = await fetch(`${url}/api/v1/uploads`, { method: 'POST', headers, body })
  if (!reply.ok) throw new Error(`${reply.status} ${await reply.text()}`)
  return ((await reply.json()) as { id: string }).id
}

/** Another key each time, so that no answer is kept. Whoever is refused, being one of too many that wait, asks again. */
async function askRow({ url }: Server, headers: Headers, id: string, n: number): Promise<void> {
  const query = `filter[fid]=${1 + (n % smallRows)}`
  for (;;) {
    const reply = await fetch(`${url}/api/v1/datasets/${id}/query?${query}`, { headers })
    await reply.arrayBuffer()
    if (reply.ok) return
    if (reply.status !== 429) throw new Error(`A row was answered with ${reply.status}`)
    await sleep(againMs)
  }
}

const firstTiles = ['1/0/0', '1/0/1', '1/1/0', '1/1/1']

async function firstMap({ url }: Server, headers: Headers, id: string): Promise<number> {
  const begun = performance.now()
  await Promise.all(
    firstTiles.map(async (tile) => {
      const reply = await fetch(`${url}/tiles/${id}/${tile}.mvt`, { headers })
      if (!reply.ok) throw new Error(`A tile was answered with ${reply.status}`)
      await reply.arrayBuffer()
    }),
  )
  return performance.now() - begun
}
