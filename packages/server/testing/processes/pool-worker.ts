import { setTimeout as sleep } from 'node:timers/promises'
import { serveRequests } from '../../src/kernel/concurrency/serve-requests.ts'
import { ApiError } from '../../src/kernel/errors.ts'

// A worker, thread or process, that does what it is told: for the tests of request and reply.

serveRequests<string>(async (what, { signal, notify, onMessage, atWork }) => {
  if (what === 'refuse')
    throw new ApiError('invalid_request', 'refused', { faults: [{ path: 'a', code: 'b', message: 'c' }] })
  if (what === 'fail') throw Object.assign(new Error('failed'), { code: '42P01' })
  if (what === 'wait') {
    await sleep(60_000, undefined, { signal }).catch(() => undefined)
    return 'cancelled'
  }
  if (what === 'talk') {
    const told = new Promise((resolve) => onMessage(resolve))
    notify('go on')
    return await told
  }
  if (what === 'loop' || what === 'crash') atWork()
  if (what === 'crash') process.exit(3)
  while (what === 'loop');
  return what
})
