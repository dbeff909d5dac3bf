// CPU time of the browsers that tests start. Their processes end without being waited for, so no parent has their time: they are
// looked at while they run.
import { readdirSync, readFileSync } from 'node:fs'
import { cpuOf } from './cpu-time.ts'

const everyMs = 1000
const isBrowser = /\((chrom|headless_shell)/

// Looks until it is asked for the sum, in seconds.
export function watchBrowsers(): () => number {
  const seconds = new Map<number, number>()
  const look = () => {
    for (const pid of browsersBelow(process.pid, seconds)) seconds.set(pid, cpuOf(pid)?.own ?? seconds.get(pid) ?? 0)
  }
  const timer = setInterval(look, everyMs).unref()
  return () => {
    look()
    clearInterval(timer)
    return [...seconds.values()].reduce((sum, one) => sum + one, 0)
  }
}

// Those whose ancestor the process is, and those `known` to have been.
function browsersBelow(ancestor: number, known: ReadonlyMap<number, number>): number[] {
  const processes = new Map(listProcesses().map((one) => [one.pid, one]))
  const isBelow = (pid: number): boolean => {
    const parent = processes.get(pid)?.parent
    return parent === ancestor || (parent !== undefined && (known.has(parent) || isBelow(parent)))
  }
  const browsers = [...processes.values()].filter(({ stat }) => isBrowser.test(stat))
  return browsers.map(({ pid }) => pid).filter((pid) => known.has(pid) || isBelow(pid))
}

function listProcesses(): { pid: number; parent: number; stat: string }[] {
  return readEntries('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
        const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        return [{ pid: Number(name), parent: Number(parent), stat }]
      } catch {
        // It has ended meanwhile.
        return []
      }
    })
}

function readEntries(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
