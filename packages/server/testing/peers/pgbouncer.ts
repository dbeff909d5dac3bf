import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A PgBouncer before a database, and the address of that database through it. `config` is a whole configuration, of which
 * addresses and files are replaced.
 */
export async function startPgBouncer(databaseUrl: string, config: string) {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-pgbouncer-'))
  const url = new URL(databaseUrl)
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  const text = config
    .replace(/^graticule = .*$/m, `${url.pathname.slice(1)} = host=${url.hostname} port=${url.port} auth_user=${user}`)
    .replace(/^auth_file = .*$/m, `auth_file = ${directory}/userlist.txt`)
    .replace(/^listen_(addr|port) = .*\n/gm, '')
  await writeFile(join(directory, 'pgbouncer.ini'), `${text}\nunix_socket_dir =\n`)
  await writeFile(join(directory, 'userlist.txt'), `"${user}" "${password}"\n`)
  // It refuses to be root, and inherits its socket as from systemd, so that nobody else can take the port.
  const isRoot = process.getuid?.() === 0
  if (isRoot) await chmod(directory, 0o755)
  const socket = createServer().listen(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address() as AddressInfo
  const command = `LISTEN_PID=$$ LISTEN_FDS=1 exec pgbouncer ${isRoot ? '-u nobody' : ''} -q ${directory}/pgbouncer.ini`
  const { fd } = (socket as unknown as { _handle: { fd: number } })._handle
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'inherit', 'inherit', fd] })
  const exited = once(child, 'exit')
  socket.close()
  url.host = `127.0.0.1:${port}`
  return {
    url: url.href,
    async stop() {
      child.kill('SIGKILL')
      await exited
      await rm(directory, { recursive: true, force: true })
    },
  }
}
