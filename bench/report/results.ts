import { execFileSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { dirname } from 'node:path'
import type { Outcome } from '../part.ts'

/** What a run found out, as it is kept for the next one to be compared with. */
export type Results = {
  readonly takenAt: string
  readonly commit: string
  readonly isQuick: boolean
  readonly machine: string
  readonly minutes: number
  readonly peers: readonly string[]
  readonly missing: readonly string[]
  readonly outcomes: readonly Outcome[]
  /** What failed, and what was left out. */
  readonly notes: readonly string[]
}

export const describeMachine = (): string => {
  const processors = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${processors.length} cores (${processors[0]?.model.trim()}), ${memory} GB, Node ${process.version}`
}

export const currentCommit = (): string =>
  execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim()

/** Kept out of the repository. */
export const lastResultsFile = (isQuick: boolean): string => `.cache/bench/${isQuick ? 'quick' : 'full'}.json`

export async function saveResults(file: string, results: Results): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, JSON.stringify(results, null, 1))
}

export async function readResults(file: string): Promise<Results> {
  return JSON.parse(await readFile(file, 'utf8')) as Results
}
