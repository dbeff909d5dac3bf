import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { totalmem } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '../../../kernel/db/database-error.ts'
import { type Check, type Finding, fault, megabytes, messageOf, ok, warning } from '../check.ts'

const oldestNode = 24
const workerBytes = 115 * 1024 ** 2
const supervisorBytes = 53 * 1024 ** 2
/** The embedded database in the memory of the process. */
const embeddedBytes = 300 * 1024 ** 2
/** Besides connections of clients: files, threads, pools. */
const reservedDescriptors = 200

/** This machine: Node, clock, memory, file descriptors, ports. */
export const machineChecks: readonly Check[] = [
  {
    name: 'node',
    async run() {
      const { node } = process.versions
      if (Number.parseInt(node, 10) >= oldestNode) return ok(`Node.js ${node}`)
      return fault(`Node.js ${node} is too old.`, `Start with npm start, which brings Node.js ${oldestNode} along.`)
    },
  },
  {
    name: 'clock',
    async run() {
      const [wall, steady] = [Date.now(), performance.now()]
      await sleep(200)
      const driftMs = Math.abs(Date.now() - wall - (performance.now() - steady))
      const mend = 'Synchronize the clock by NTP: timedatectl set-ntp true'
      if (new Date().getFullYear() < 2026) return fault(`The clock says ${new Date().toISOString()}.`, mend)
      return driftMs > 100
        ? warning(`The clock jumped by ${Math.round(driftMs)} ms.`, mend)
        : ok('The clock runs evenly.')
    },
  },
  {
    name: 'memory',
    async run({ config, workers }) {
      const limit = process.constrainedMemory()
      const there = limit > 0 && limit < totalmem() ? limit : totalmem()
      const each = config.DATABASE_URL === undefined ? workerBytes + embeddedBytes : workerBytes
      const needed = workers * each + (workers > 1 ? supervisorBytes : 0) + config.TILE_CACHE_MB * 1024 ** 2
      const text = `${megabytes(there)} of memory; ${workers} ${workers === 1 ? 'process' : 'workers'} and tiles take about ${megabytes(needed)}.`
      return there < needed ? warning(text, 'Lower WORKERS or TILE_CACHE_MB, or add memory.') : ok(text)
    },
  },
  {
    name: 'file descriptors',
    async run({ config, workers }) {
      const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
      const [, limit] = /^Max open files\s+\d+\s+(\d+)/m.exec(limits) ?? []
      if (limit === undefined) return []
      const pools = config.DATABASE_POOL_SIZE + config.TENANT_CONNECTIONS + config.TILE_CONNECTIONS
      const needed = Math.ceil((config.MAX_CONNECTIONS + pools) / workers) + reservedDescriptors
      const text = `${limit} file descriptors; MAX_CONNECTIONS and the pools need ${needed} in each process.`
      if (Number(limit) >= needed) return ok(text)
      return warning(
        text,
        'LimitNOFILE=65536 in the systemd unit, ulimit -n 65536 in a shell; or lower MAX_CONNECTIONS.',
      )
    },
  },
  {
    name: 'port',
    async run({ config: { HOST, PORT } }) {
      return PORT === 0 ? ok('Any free port is taken.') : checkPort(HOST, PORT, 'PORT')
    },
  },
  {
    name: 'metrics port',
    applies: ({ METRICS_PORT }) => METRICS_PORT !== undefined,
    run: ({ config: { HOST, METRICS_PORT = 0 } }) => checkPort(HOST, METRICS_PORT, 'METRICS_PORT'),
  },
]

async function checkPort(host: string, port: number, setting: string): Promise<Finding> {
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
    return ok(`${host}:${port} is free.`)
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE') {
      return fault(
        `${host}:${port} cannot be listened on: ${messageOf(error)}`,
        `Correct HOST and ${setting}; ports below 1024 need AmbientCapabilities=CAP_NET_BIND_SERVICE.`,
      )
    }
    if (await isGraticule(host, port)) return ok(`A Graticule server listens on ${host}:${port}.`)
    return fault(`Another program listens on ${host}:${port}.`, `Stop it, or set ${setting} to another port.`)
  } finally {
    server.close()
  }
}

/** A server of ours answers one of these. */
async function isGraticule(host: string, port: number): Promise<boolean> {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  const texts = ['/api/v1/liveness', '/metrics'].map(async (path) => {
    const reply = await fetch(`http://${reachable}:${port}${path}`, { signal: AbortSignal.timeout(3_000) })
    return reply.ok ? reply.text() : ''
  })
  const [live = '', metrics = ''] = await Promise.all(texts.map((text) => text.catch(() => '')))
  return live === '{"status":"ok"}' || metrics.includes('graticule_info')
}
