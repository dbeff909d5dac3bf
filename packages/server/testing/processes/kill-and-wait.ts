// A process with nothing to do but to wait for the end of a worker that it has killed, and that answers its last request meanwhile: the pool
// then lets go of it.
import { fork } from 'node:child_process'
import { processChannel, startThread } from '../../src/kernel/concurrency/channel.ts'

const script = new URL('./pool-worker.ts', import.meta.url)
const channel =
  process.argv[2] === 'thread'
    ? startThread(script)
    : processChannel(fork(script, { serialization: 'advanced', execArgv: [] }))
channel.listen(() => undefined)
channel.kill()
channel.hold(false)
await channel.ended
console.log('ended')
