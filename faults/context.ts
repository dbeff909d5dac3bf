import { execFileSync } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { Agent } from 'node:http'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PostgresCluster, type PostgresOptions, startPostgres } from '../scripts/postgres.ts'
import { type CpuGroup, openCpuGroup } from './cpu-group.ts'
import { NotHere } from './fault.ts'
import { type FaultServer, type ServerOptions, startServer } from './server.ts'

export type FaultContext = ReturnType<typeof openContext>

/** Every acknowledged commit is on the disk, as in production. */
const durable = 'fsync = on\nshared_buffers = 128MB\njit = off'

/** What a fault starts and makes; `close` stops and removes it all, the last first, also after a failure. */
export function openContext({ isQuick, minutes }: { isQuick: boolean; minutes: number | undefined }) {
  const closers: (() => unknown)[] = []
  const secret = 'a secret for fault tests, long enough to be one'
  const slack = Math.max(1, (loadavg()[0] ?? 0) / availableParallelism())
  const context = {
    isQuick,
    /** How long a soak takes. */
    minutes,
    /** A bound in milliseconds, for a machine that is as busy as this one was at the start of the fault. */
    allowed: (ms: number): number => ms * slack,
    /** The first in a quick run. */
    size: <T>(quick: T, full: T): T => (isQuick ? quick : full),
    defer: (close: () => unknown): void => void closers.push(close),
    async directory(): Promise<string> {
      const path = await mkdtemp(join(tmpdir(), 'graticule-faults-'))
      closers.push(() => rm(path, { recursive: true, force: true, maxRetries: 3 }))
      return path
    },
    agent(connections: number): Agent {
      const agent = new Agent({ keepAlive: true, maxSockets: connections })
      closers.push(() => agent.destroy())
      return agent
    },
    /** A file system of this size. */
    async smallDisk(megabytes: number): Promise<string> {
      const path = await context.directory()
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path], { stdio: 'ignore' })
      } catch {
        throw new NotHere('this user may not mount a file system')
      }
      closers.push(() => execFileSync('umount', ['-l', path]))
      // PostgreSQL runs as another user.
      await chmod(path, 0o777)
      return path
    },
    ownGroup(): CpuGroup | undefined {
      const group = openCpuGroup()
      if (group) closers.push(group.remove)
      return group
    },
    async postgres(options: PostgresOptions = {}): Promise<PostgresCluster> {
      const settings = `${durable}\n${options.settings ?? ''}`
      const cluster = await startPostgres({ ...options, settings, prefix: context.ownGroup()?.prefix ?? [] })
      closers.push(() => cluster.stop())
      return cluster
    },
    /** A server on this database, or on an embedded one. All of a context have one master key and one secret. */
    async server(env: Record<string, string>, options: Partial<ServerOptions> = {}): Promise<FaultServer> {
      const directory = env.DATA_DIR ?? (await context.directory())
      const settings = { SECRET_KEY: secret, DATA_DIR: directory, ...env }
      const group = context.ownGroup()
      const server = await startServer(settings, { ...options, onSpawn: (pid) => group?.add(pid) })
      closers.push(() => server.kill())
      return server
    },
    async close(): Promise<void> {
      for (const close of closers.splice(0).reverse()) {
        try {
          await close()
        } catch (error) {
          console.error(`  cleaning up: ${(error as Error).message}`)
        }
      }
    },
  }
  return context
}
