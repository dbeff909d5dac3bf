import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type PostgresCluster, startPostgres } from '../../../../scripts/postgres.ts'

/** A PostgreSQL cluster as people have it: every login needs a password, by a socket too. */
export type ScramCluster = {
  /** The directory of its socket. */
  readonly socket: string
  readonly port: number
  /** Of the role `postgres`. */
  readonly password: string
  /** As a superuser; `database` is `postgres` unless another is named. */
  query(text: string, database?: string): Promise<pg.QueryResult>
  /** Replaces pg_hba.conf; the first line that fits a login decides. */
  setHba(lines: readonly string[]): Promise<void>
  readonly cluster: PostgresCluster
  close(): Promise<void>
}

const password = 'geheim & sicher: 100 %'

export const scramLines = ['local all all scram-sha-256', 'host all all 127.0.0.1/32 scram-sha-256']

export async function startScramCluster(settings = ''): Promise<ScramCluster> {
  const socket = await mkdtemp(join(tmpdir(), 'graticule-socket-'))
  const hba = join(socket, 'pg_hba.conf')
  // Another user runs the cluster where the tests run as root.
  await chmod(socket, 0o777)
  await writeFile(hba, 'host all all 127.0.0.1/32 trust', { mode: 0o644 })
  await chmod(hba, 0o644)
  const cluster = await startPostgres({
    settings: `fsync = off\nunix_socket_directories = '${socket}'\nhba_file = '${hba}'\n${settings}`,
  })
  const { port } = new URL(cluster.url)
  const query = async (text: string, database = 'postgres') => {
    const client = new pg.Client({ host: '127.0.0.1', port: Number(port), user: 'postgres', password, database })
    await client.connect()
    try {
      return await client.query(text)
    } finally {
      await client.end()
    }
  }
  const setHba = async (lines: readonly string[]) => {
    await writeFile(hba, `${lines.join('\n')}\n`)
    const loaded = async () => (await query('SELECT pg_conf_load_time()::text AS at')).rows[0].at
    const before = await loaded()
    await cluster.control('reload')
    // pg_ctl does not wait for it. The role `postgres` must be let in by every version of the file.
    while ((await loaded()) === before) await sleep(20)
  }
  // As initdb leaves a cluster: the role of the documents is for the tests to make.
  await query('DROP DATABASE IF EXISTS graticule')
  await query('DROP ROLE IF EXISTS graticule')
  await query(`ALTER ROLE postgres PASSWORD '${password}'`)
  await setHba(scramLines)
  return {
    socket,
    port: Number(port),
    password,
    query,
    setHba,
    cluster,
    async close() {
      await cluster.stop()
      await rm(socket, { recursive: true, force: true })
    },
  }
}
