// CPU time of processes, as Linux counts it: it says what a test costs, on a busy machine as on a quiet one.
import { readFileSync } from 'node:fs'

export interface CpuSeconds {
  // Of the process itself, all its threads.
  own: number
  // Of the processes that it has started, and that have ended: their time, with that of their own children, is added to this
  // when they are waited for.
  children: number
}

// What the kernel counts in; sysconf(_SC_CLK_TCK) is 100 on every architecture that Node runs on.
const ticksPerSecond = 100

// Undefined where there is no /proc, or no such process.
export function cpuOf(pid: number | 'self'): CpuSeconds | undefined {
  const fields = statFields(pid)
  if (!fields) return undefined
  // utime, stime, cutime and cstime of proc(5); the first field after the name of the command is the third.
  const seconds = (at: number) => (Number(fields[at - 3]) + Number(fields[at - 2])) / ticksPerSecond
  return { own: seconds(14), children: seconds(16) }
}

// Of a process, of its children that have ended, and of those that still run: of PostgreSQL's postmaster and its sessions.
export function cpuOfFamily(pid: number): number {
  const { own, children } = cpuOf(pid) ?? { own: 0, children: 0 }
  return runningChildrenOf(pid).reduce((sum, child) => sum + (cpuOf(child)?.own ?? 0), own + children)
}

function statFields(pid: number | 'self'): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name is in parentheses and may hold some.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

function runningChildrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}
