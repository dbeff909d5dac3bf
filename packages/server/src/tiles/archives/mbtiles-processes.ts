import { createMbtilesProcess, type MbtilesProcess } from './mbtiles-process.ts'

const maxRunning = 16

/** One for each application, so that a file of one cannot keep those of another waiting. Most rest. */
export function createMbtilesProcesses(max = maxRunning) {
  const processes = new Map<string, MbtilesProcess>()
  /** The applications whose processes may run, the one started last at the end. */
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
      const known = processes.get(applicationId)
      const process = known ?? createMbtilesProcess({ onStart: () => onStart(applicationId) })
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
