import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { type Case, ourName, type Part } from '../part.ts'
import { isOnPath, type Server } from '../processes.ts'
import { median, percentile, type Sample } from '../statistics.ts'
import { makeLayoutFiles } from '../uploads/geojson-layouts.ts'
import { loadByOgr, removeDataset, type UploadTimes, upload } from '../uploads/upload.ts'
import { convertFile, makeGeoJson, type UploadFile } from '../uploads/upload-files.ts'

export const uploads: Part = {
  name: 'uploads',
  about:
    'From the last byte received to `completed`, when the dataset can be queried and drawn, against `ogr2ogr -f PostgreSQL` with COPY and a spatial index. Points have 8 properties, areas 41 to 61 corners. Each load is checked to have all features. Overviews follow `completed`; ogr2ogr makes none.',
  seconds: 420,
  async *cases(bench) {
    const server = await bench.startGraticule({ TILE_CACHE_MB: '0' })
    const done: UploadTimes[] = []
    const large = await largeFiles(bench)
    for (const file of large) yield uploadCase(bench, server, file, done)
    yield* aftermath(large[0]?.features ?? 0, done)
    for (const file of await smallFiles(bench)) yield uploadCase(bench, server, file, done)
    yield await tilesMeanwhile(bench, server, large)
  },
}

async function largeFiles({ directory, isQuick }: Bench): Promise<UploadFile[]> {
  const points = await makeGeoJson(directory, 'points', isQuick ? 100_000 : 1_000_000)
  return [points, await makeGeoJson(directory, 'areas', isQuick ? 10_000 : 100_000)]
}

/** The other formats, and GeoJSON as other programs write it. */
async function smallFiles({ directory, isQuick }: Bench): Promise<UploadFile[]> {
  if (isQuick) return []
  const folder = join(directory, 'small')
  await mkdir(folder)
  const files: UploadFile[] = []
  for (const [kind, count] of [
    ['points', 100_000],
    ['areas', 20_000],
  ] as const)
    files.push(...(await convertFile(folder, kind, await makeGeoJson(folder, kind, count))))
  return [...files, ...(await makeLayoutFiles(folder, 100_000))]
}

function uploadCase(bench: Bench, server: Server, file: UploadFile, done: UploadTimes[]): Case {
  const measure = async (): Promise<Sample> => {
    const uploaded = await upload(server, bench.headers, file)
    done.push(uploaded)
    await removeDataset(server, bench.headers, uploaded.datasetId)
    return { value: uploaded.seconds }
  }
  const ogr = { name: 'ogr2ogr', measure: async () => ({ value: await loadByOgr(bench.databaseUrl, file) }) }
  const others = bench.hasPeers && isOnPath('ogr2ogr') ? [ogr] : []
  return {
    work: `load ${file.features.toLocaleString('en')} features, ${file.name}`,
    ...seconds,
    contenders: [{ name: ourName, measure }, ...others],
    wanted: { ratio: { ogr2ogr: file.wanted } },
    longRounds: 2,
  }
}

const seconds = { unit: 's', better: 'less' } as const

/** What the largest files took besides. */
function* aftermath(points: number, done: readonly UploadTimes[]): Generator<Case> {
  const ours = (value: number) => [{ name: ourName, measure: async () => ({ value }) }]
  const overviews = median(done.slice(0, 2).map((one) => one.overviewSeconds))
  const work = `overviews of ${points.toLocaleString('en')} points, after \`completed\``
  yield { work, ...seconds, contenders: ours(overviews), wanted: { most: 7.3 }, longRounds: 1 }
  const most = Math.max(...done.map(({ readerMb }) => readerMb))
  const memory = { unit: 'MB', better: 'less', wanted: { most: 150 }, longRounds: 1 } as const
  yield { work: 'most memory of the process that reads a file', contenders: ours(most), ...memory }
}

/** What 95 of 100 tiles take while the largest file is loaded. */
async function tilesMeanwhile(bench: Bench, server: Server, [points, areas]: UploadFile[]): Promise<Case> {
  if (!points || !areas) throw new Error('There are no files')
  const { datasetId } = await upload(server, bench.headers, areas)
  const idle = async () => tileTimes(bench, server, datasetId, sleep(5_000))
  const busy = async () => {
    const loading = upload(server, bench.headers, points)
    const sample = await tileTimes(bench, server, datasetId, loading)
    await removeDataset(server, bench.headers, (await loading).datasetId)
    return sample
  }
  await tileTimes(bench, server, datasetId, sleep(2_000))
  const contenders = [
    { name: ourName, measure: busy },
    { name: 'nothing loaded', measure: idle },
  ]
  const wanted = { ratio: { 'nothing loaded': 0.5 } }
  return { work: 'p95 of a tile while a file is loaded', unit: 'ms', better: 'less', contenders, wanted, longRounds: 1 }
}

/** Twenty a second, one after the other, until something is over. */
async function tileTimes({ headers }: Bench, { url }: Server, id: string, until: Promise<unknown>): Promise<Sample> {
  const times: number[] = []
  const isOver = { value: false }
  const end = (): void => {
    isOver.value = true
  }
  until.then(end, end)
  for (let n = 0; !isOver.value; n++) {
    const z = 6 + (n % 5)
    const [x, y] = [(n * 7919) % 2 ** z, Math.floor(2 ** z * 0.3) + ((n * 104_729) % Math.floor(2 ** z * 0.4))]
    const begun = performance.now()
    const reply = await fetch(`${url}/tiles/${id}/${z}/${x}/${y}.mvt`, { headers })
    await reply.arrayBuffer()
    if (!reply.ok) throw new Error(`A tile was answered with ${reply.status}`)
    times.push(performance.now() - begun)
    await sleep(50)
  }
  return { value: percentile(times, 0.95) }
}
