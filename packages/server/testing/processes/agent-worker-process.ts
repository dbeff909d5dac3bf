import { setTimeout as wait } from 'node:timers/promises'
import { connectWorker, type TestWorker, type WorkerJob } from '../agent-worker.ts'

// A worker as a process of its own. It serves at the first of its addresses, and goes on to the next when told to.
const { URLS = '', KEY = '', AGENT = '', WORKER = 'process', CONCURRENCY = '8' } = process.env
const urls = URLS.split(',')
let running = 0

/** The input says what to do: `words N MS` streams N words, one in MS; `hang` accepts only; `start` starts only. */
async function handle({ invoke, send, cancelled }: WorkerJob): Promise<void> {
  const [what, count = '1', pause = '0'] = invoke.input.split(' ')
  let isCancelled = false
  cancelled.then(() => {
    isCancelled = true
    send({ t: 'cancelled' })
  })
  running += 1
  send({ t: 'accept' })
  if (what === 'start') send({ t: 'start' })
  if (what === 'words') {
    for (let n = 0; n < Number(count) && !isCancelled; n++) {
      send({ t: 'delta', text: `${n} ` })
      await wait(Number(pause))
    }
    if (!isCancelled) send({ t: 'done', model: WORKER })
  }
  running -= 1
}

async function serve(at: number): Promise<TestWorker> {
  const worker = await connectWorker({
    url: urls[at % urls.length] ?? '',
    key: KEY,
    agentId: AGENT,
    workerId: WORKER,
    concurrency: Number(CONCURRENCY),
    handle,
    async onGoaway({ reconnectAfterMs }) {
      await wait(reconnectAfterMs)
      await serve(at + 1)
      worker.send({ t: 'drain' })
      while (running > 0) await wait(10)
      worker.close()
    },
  })
  return worker
}

// Without a place to go on to there is nothing left to do.
process.on('unhandledRejection', () => process.exit(0))
await serve(0)
console.log('ready')
