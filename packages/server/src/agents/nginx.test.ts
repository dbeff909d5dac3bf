import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { agentWorld, until } from '../../testing/agent-world.ts'
import { openStream } from '../../testing/event-client.ts'

// One database is enough: what nginx passes on does not say where it was stored.

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Debian's own configuration, but for where it listens and what it writes. */
async function startNginx(target: string): Promise<{ url: string; stop(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-nginx-'))
  const port = await freePort()
  const debian = await readFile('/etc/nginx/nginx.conf', 'utf8')
  const site = `server { listen 127.0.0.1:${port}; location / { proxy_pass ${target}; } }`
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${directory};`,
  )
  const config = debian
    .replace(/^user .*$/m, 'daemon off;')
    .replace(/^pid .*$/m, `pid ${directory}/pid;`)
    .replace(/^include \/etc\/nginx\/modules-enabled.*$/m, '')
    .replace(/\/var\/log\/nginx/g, directory)
    .replace(/include \/etc\/nginx\/conf\.d.*$/m, temporary.join(' '))
    .replace(/include \/etc\/nginx\/sites-enabled.*$/m, site)
  assert.match(config, /gzip on;/)
  await writeFile(join(directory, 'nginx.conf'), config)
  const child = spawn('nginx', ['-c', join(directory, 'nginx.conf'), '-e', join(directory, 'error.log')], {
    stdio: 'inherit',
  })
  const url = `http://127.0.0.1:${port}`
  await until(
    () =>
      fetch(url).then(
        () => true,
        () => false,
      ),
    'nginx does not listen',
  )
  return {
    url,
    async stop() {
      child.kill()
      await once(child, 'exit')
      await rm(directory, { recursive: true })
    },
  }
}

test('through nginx with Debian’s defaults each delta arrives before the next is made', async () => {
  const world = await agentWorld()
  const nginx = await startNginx(world.url)
  const pieces = 5
  let seen: (count: number) => Promise<void> = async () => {}
  const agentId = await world.agent()
  await world.worker(agentId, async ({ send }) => {
    send({ t: 'accept' })
    for (let n = 1; n <= pieces; n++) {
      send({ t: 'delta', text: `${n}` })
      await seen(n)
    }
    send({ t: 'done' })
  })
  const asked = openStream(`${nginx.url}${world.path(agentId, '/stream')}`, world.tenant.public, { input: 'x' })
  seen = async (count) => {
    const reply = await asked
    await until(() => reply.text().length === count, `delta ${count} is held back`)
  }
  const reply = await asked
  await reply.over
  assert.equal(reply.headers.get('content-encoding'), null)
  assert.equal(reply.headers.get('server')?.startsWith('nginx'), true)
  assert.equal(reply.text(), '12345')
  assert.equal(reply.last()?.event, 'done')
  await nginx.stop()
  await world.close()
})
