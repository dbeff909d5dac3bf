import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

// The role of servers is what docs/deploy.md asks for: it owns its database and creates roles, and is no superuser.
//
// Lives as long as its standard input, and gives each line of it to pg_ctl. That pipe closes however this process ends, so the
// cluster never outlives it.
const supervisor = `
  set -eu
  dir=$(mktemp -d "$3/graticule-postgres.XXXXXX")
  trap 'status=$?; [ $status = 0 ] || cat "$dir/log" >&2; rm -rf "$dir"' EXIT
  "$1/initdb" -D "$dir/data" -U postgres --auth=trust --no-sync --encoding=UTF8 --locale=C.UTF-8 >"$dir/log" 2>&1
  cat >>"$dir/data/postgresql.conf" <<END
    listen_addresses = '127.0.0.1'
    port = $2
    unix_socket_directories = ''
    max_connections = 200
    $4
END
  control() { "$1/pg_ctl" -D "$dir/data" -l "$dir/log" --wait $2 >>"$dir/log" 2>&1; }
  control "$1" start
  administer() { "$1/psql" -X -q -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$2" -U postgres -d "$3" -c "$4" >>"$dir/log" 2>&1; }
  administer "$1" "$2" postgres 'CREATE ROLE graticule LOGIN CREATEROLE'
  administer "$1" "$2" postgres 'CREATE DATABASE graticule OWNER graticule'
  administer "$1" "$2" graticule 'CREATE EXTENSION postgis'
  echo "ready $(head -1 "$dir/data/postmaster.pid") $dir/log"
  while read -r action; do
    if control "$1" "$action"; then echo done; else echo failed; fi
  done
  if control "$1" status; then control "$1" "stop --mode=immediate"; fi
`

// A cluster that nobody needs after a power cut.
const careless = 'fsync = off\nsynchronous_commit = off\nfull_page_writes = off'

export interface PostgresOptions {
  // Lines of postgresql.conf instead of those that give up durability.
  settings?: string
  // Where its data is.
  parent?: string
  env?: NodeJS.ProcessEnv
  // What the command is run by.
  prefix?: readonly string[]
}

export interface PostgresCluster {
  // Of a database with PostGIS, for the role that owns it.
  url: string
  // Of the same database, for a superuser.
  adminUrl: string
  // Of its first process, until it is restarted.
  pid: number
  // An action of pg_ctl, such as `restart --mode=immediate`.
  control(action: string): Promise<void>
  // What its log says of backends that ended by a signal, each with its statement: all others lose their connections with it.
  crashes(): string[]
  stop(): Promise<void>
}

// A PostgreSQL cluster of its own that is thrown away afterwards.
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresCluster> {
  const { settings = careless, parent = tmpdir(), env = process.env, prefix = [] } = options
  const port = await freePort()
  const command = ['sh', '-c', supervisor, 'sh', binDirectory(), String(port), parent, settings]
  // PostgreSQL refuses to run as root.
  if (process.getuid?.() === 0) command.unshift('runuser', '-u', 'postgres', '--')
  const [file = '', ...args] = [...prefix, ...command]
  // Detached, so that Ctrl-C in the terminal reaches only us and the cluster is stopped in order.
  const child = spawn(file, args, { cwd: '/', detached: true, stdio: 'pipe', env })
  const exited = once(child, 'exit')
  const errors = text(child.stderr)
  const ready = await Promise.race([once(child.stdout, 'data').then(String), exited.then(() => undefined)])
  if (ready === undefined) throw new Error(`PostgreSQL did not start:\n${await errors}`)
  const [, pid, log = ''] = ready.trim().split(' ')
  return {
    url: `postgres://graticule@127.0.0.1:${port}/graticule`,
    adminUrl: `postgres://postgres@127.0.0.1:${port}/graticule`,
    pid: Number(pid),
    async control(action) {
      child.stdin.write(`${action}\n`)
      const [answer] = await once(child.stdout, 'data')
      if (!String(answer).startsWith('done')) throw new Error(`pg_ctl ${action} failed`)
    },
    crashes: () => crashesIn(readFileSync(log, 'utf8')),
    async stop() {
      child.stdin.end()
      await exited
    },
  }
}

// "was terminated by signal 11: Segmentation fault" is followed by the statement that ran. SIGKILL is sent by tests, and by a
// machine without memory.
function crashesIn(log: string): string[] {
  const lines = log.split('\n')
  const isCrash = (line: string) => /was terminated by signal (?!9\b)\d+/.test(line)
  return lines.flatMap((line, index) => (isCrash(line) ? [lines.slice(index, index + 12).join('\n')] : []))
}

function binDirectory() {
  const [newest] = globSync('/usr/lib/postgresql/*/bin')
    .filter((directory) => existsSync(join(directory, 'initdb')))
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  return newest ?? execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim()
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}
