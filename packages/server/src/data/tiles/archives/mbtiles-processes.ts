// The MBTiles reader processes of all applications.
import { createMbtilesProcess, type MbtilesProcess } from './mbtiles-process.ts'

const maxRunning = 16

/** One process per application, so that a slow file of one does not block another. At most `max` keep running. */
export function createMbtilesProcesses(max = maxRunning) {
  const processes = new Map<string, MbtilesProcess>()
  /** Applications with a running process, the latest started last. */
  const running = new Set<string>()

  function onStart(applicationId: string): void {
    running.delete(applicationId)
    running.add(applicationId)
    for (const other of [...running].slice(0, -max)) {
      if (processes.get(other)?.rest()) running.delete(other)
    }
  }

  return {
    of(applicationId: string): MbtilesProcess {
      const former = processes.get(applicationId)
      const process = former ?? createMbtilesProcess({ onStart: () => onStart(applicationId) })
      processes.set(applicationId, process)
      return process
    },
    async close() {
      await Promise.all([...processes.values()].map((process) => process.close()))
      processes.clear()
      running.clear()
    },
  }
}
