import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../agent-world.ts'

export type Nginx = { url: string; stop(): Promise<void> }

/** An nginx of its own, on a port that was free: Debian's configuration, but for what it writes and where, and `site` in it. */
export async function startNginx(site: (address: string, directory: string) => string): Promise<Nginx> {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-nginx-'))
  // nginx inherits the socket, so that nobody else can take the port in between.
  const socket = createServer().listen(0, '127.0.0.1')
  await once(socket, 'listening')
  const address = `127.0.0.1:${(socket.address() as AddressInfo).port}`
  await writeFile(join(directory, 'nginx.conf'), await configuration(directory, site(address, directory)))
  const child = spawn('nginx', ['-c', join(directory, 'nginx.conf'), '-e', join(directory, 'error.log')], {
    env: { ...process.env, NGINX: '3;' },
    stdio: ['ignore', 'inherit', 'inherit', descriptorOf(socket)],
  })
  const exited = once(child, 'exit')
  socket.close()
  const url = `http://${address}`
  await until(() => fetch(url).then(isTrue, isFalse), 'nginx does not listen')
  return {
    url,
    async stop() {
      child.kill()
      await exited
      await rm(directory, { recursive: true })
    },
  }
}

async function configuration(directory: string, site: string): Promise<string> {
  const debian = await readFile('/etc/nginx/nginx.conf', 'utf8')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${directory}/${name};`,
  )
  return (
    debian
      // Its workers must reach the folder, which is for this user only.
      .replace(/^user .*$/m, `daemon off; ${process.getuid?.() === 0 ? 'user root;' : ''}`)
      .replace(/^worker_processes .*$/m, 'worker_processes 1;')
      .replace(/^pid .*$/m, `pid ${directory}/pid;`)
      .replace(/^include \/etc\/nginx\/modules-enabled.*$/m, '')
      .replace(/\/var\/log\/nginx/g, directory)
      .replace(/include \/etc\/nginx\/conf\.d.*$/m, temporary.join(' '))
      .replace(/include \/etc\/nginx\/sites-enabled.*$/m, () => site)
  )
}

const descriptorOf = (server: Server): number => (server as unknown as { _handle: { fd: number } })._handle.fd
const isTrue = () => true
const isFalse = () => false
