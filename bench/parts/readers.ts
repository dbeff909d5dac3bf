import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { ourName, type Part } from '../part.ts'
import { makeLayoutFiles } from '../uploads/geojson-layouts.ts'
import { convertFile, makeGeoJson, type UploadFile } from '../uploads/upload-files.ts'

const run = promisify(execFile)
/** Another checkout to compare with: BENCH_OTHER=/path/to/it npm run bench -- readers */
const other = process.env.BENCH_OTHER

export const readers: Part = {
  name: 'readers',
  about: 'The CPU time of reading a file of 200,000 points or 20,000 areas as an upload does, without a database.',
  seconds: 600,
  isOnDemand: true,
  async *cases(bench) {
    const checkouts = [{ name: ourName, path: resolve('.') }, ...(other ? [{ name: 'the other', path: other }] : [])]
    for (const { name, path, features } of await makeFiles(bench.directory)) {
      const contenders = checkouts.map((checkout) => ({
        name: checkout.name,
        measure: async () => ({ value: (await readFile(checkout.path, path)).ms }),
        equal: async () => {
          const [here, there] = [await readFile(resolve('.'), path), await readFile(checkout.path, path)]
          if (!here.isAsGuessed || here.features !== features) throw new Error('the file is not loaded as guessed')
          if (here.bytes !== there.bytes) throw new Error(`${there.bytes} bytes and not ${here.bytes}`)
        },
      }))
      yield { work: `read ${name}`, unit: 'ms', better: 'less', contenders, longRounds: 5 }
    }
  },
}

async function makeFiles(directory: string): Promise<UploadFile[]> {
  const points = await makeGeoJson(directory, 'points', 200_000)
  const areas = await makeGeoJson(directory, 'areas', 20_000)
  const converted = [
    ...(await convertFile(directory, 'points', points)),
    ...(await convertFile(directory, 'areas', areas)),
  ]
  return [points, areas, ...converted, ...(await makeLayoutFiles(directory, 200_000))]
}

type Measured = { ms: number; bytes: number; isAsGuessed: boolean; features: number }

async function readFile(checkout: string, file: string): Promise<Measured> {
  const script = resolve('bench/read-file.ts')
  const { stdout } = await run(process.execPath, [script, checkout, file])
  return JSON.parse(stdout)
}
