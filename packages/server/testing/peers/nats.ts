import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/** A NATS server of its own, on a port that was free, or on the one of an earlier server that has been stopped. */
export async function startNats(port = -1): Promise<{ url: string; process: ChildProcess; stop(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-nats-'))
  const child = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port), '--ports_file_dir', directory], {
    stdio: 'ignore',
  })
  await once(child, 'spawn')
  return {
    url: await addressIn(directory),
    process: child,
    async stop() {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function addressIn(directory: string): Promise<string> {
  for (let tries = 0; tries < 5_000; tries++) {
    const [name] = await readdir(directory)
    const text = name ? await readFile(join(directory, name), 'utf8') : ''
    if (text.endsWith('}')) return (JSON.parse(text) as { nats: string[] }).nats[0] ?? ''
    await wait(20)
  }
  throw new Error('nats-server did not start')
}
