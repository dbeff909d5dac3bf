// A pool of pre-started GDAL processes, each used once.
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { type PortableGdal, runPortableGdal, startPortableGdal } from '../readers/gdal/run.ts'
import type { GdalTask } from '../readers/reader.ts'

/**
 * A process converts one file and is then discarded, so that nothing of one file can reach another. Only the next
 * process is kept warm; it has seen no file yet and may read only its own directory.
 */
export type GdalPool = {
  convert(task: GdalTask): Promise<void>
  close(): Promise<void>
}

/** How long an unused spare process is kept. Before the first conversion there is none. */
const spareMs = 120_000
/** The owner of an older directory must have died. */
const staleMs = 24 * 3_600_000

type GdalSlot = { readonly directory: string; readonly gdal: PortableGdal }

export function createGdalPool(directory: string, keepMs = spareMs): GdalPool {
  let spare: Promise<GdalSlot> | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function takeSpare(): Promise<GdalSlot> | undefined {
    const taken = spare
    clearTimeout(timer)
    spare = undefined
    return taken
  }
  function keepSpare(): void {
    if (isClosed || spare) return void timer?.refresh()
    const started = startIn(directory)
    spare = started
    timer = setTimeout(endSpare, keepMs).unref()
    const forget = (): void => void (spare === started && endSpare())
    started.then(({ gdal }) => gdal.ended.then(forget), forget)
  }
  async function endSpare(): Promise<void> {
    const place = await takeSpare()?.catch(() => undefined)
    if (place) await remove(place)
  }
  return {
    async convert(task) {
      const place = await (takeSpare() ?? startIn(directory))
      try {
        if (await moveTo(place, task)) await convertIn(place, task)
        else await runPortableGdal(task)
      } finally {
        await remove(place)
        keepSpare()
      }
    },
    async close() {
      isClosed = true
      await endSpare()
    },
  }
}

const sourceIn = (directory: string): string => join(directory, 'source')
const resultIn = (directory: string): string => join(directory, 'result')

async function startIn(parent: string): Promise<GdalSlot> {
  await removeStale(parent)
  const directory = join(parent, randomUUID())
  await mkdir(sourceIn(directory), { recursive: true })
  await mkdir(resultIn(directory))
  return { directory, gdal: await startPortableGdal(sourceIn(directory), resultIn(directory)) }
}

const jobIn = (directory: string): string => join(sourceIn(directory), 'job')

/** Moves the files to the directory that the process may read; false if that is on another disk. */
async function moveTo({ directory }: GdalSlot, { sourceDirectory }: GdalTask): Promise<boolean> {
  return rename(sourceDirectory, jobIn(directory)).then(
    () => true,
    (error) => {
      if (error.code === 'EXDEV') return false
      throw error
    },
  )
}

/** Moves the result to where the caller expects it. */
async function convertIn({ directory, gdal }: GdalSlot, task: GdalTask): Promise<void> {
  const source = join(jobIn(directory), relative(task.sourceDirectory, task.source))
  await gdal.convert({ ...task, source })
  const name = 'result.gpkg'
  await rename(join(resultIn(directory), name), join(task.resultDirectory, name)).catch((error) => {
    // A file without features gives no result file.
    if (error.code !== 'ENOENT') throw error
  })
}

async function remove({ directory, gdal }: GdalSlot): Promise<void> {
  gdal.end()
  await gdal.ended
  await rm(directory, { recursive: true, force: true })
}

async function removeStale(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const { mtimeMs } = (await stat(join(parent, name)).catch(() => undefined)) ?? { mtimeMs: Date.now() }
    if (Date.now() - mtimeMs > staleMs) await rm(join(parent, name), { recursive: true, force: true })
  }
}
