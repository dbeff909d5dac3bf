// A control group of Linux: its processes together get as much of the processors as those of any other group. Services of systemd,
// containers and pods are such groups; without them each backend of PostgreSQL would count as much as the whole server.
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { untilSo } from './wait.ts'

export type CpuGroup = {
  add(pid: number): void
  /** Runs a command in the group, also what it starts before anybody could add it. */
  readonly prefix: readonly string[]
  remove(): Promise<void>
}

let made = 0

/** Nothing where this user may not make one. */
export function openCpuGroup(): CpuGroup | undefined {
  const root = existsSync('/sys/fs/cgroup/cgroup.procs') ? '/sys/fs/cgroup' : '/sys/fs/cgroup/cpu'
  const path = join(root, `graticule-faults-${process.pid}-${++made}`)
  try {
    mkdirSync(path)
  } catch {
    return undefined
  }
  const members = join(path, 'cgroup.procs')
  return {
    add: (pid) => writeFileSync(members, String(pid)),
    prefix: ['sh', '-c', 'echo $$ > "$0" && exec "$@"', members],
    /** Once all of its processes have ended. */
    async remove() {
      await untilSo(
        () => isRemoved(path),
        5_000,
        () => `${path} is still in use`,
      )
    },
  }
}

function isRemoved(path: string): boolean {
  try {
    rmdirSync(path)
    return true
  } catch {
    return !existsSync(path)
  }
}
