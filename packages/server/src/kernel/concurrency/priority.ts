// Lower priorities for work that takes long, so that the event loops, which need little, are not kept waiting for a processor.
import type { ChildProcess } from 'node:child_process'
import { setPriority } from 'node:os'

const threadNice = 5
const processNice = 10

/** Called in a thread. Elsewhere than on Linux its priority is that of the whole process, and stays. */
export function lowerThreadPriority(): void {
  if (process.platform === 'linux') setPriority(threadNice)
}

/** The process that was just started; what it starts inherits the priority. */
export function lowerProcessPriority<C extends Pick<ChildProcess, 'pid'>>(child: C): C {
  try {
    if (child.pid !== undefined) setPriority(child.pid, processNice)
  } catch {
    // It has ended already.
  }
  return child
}
