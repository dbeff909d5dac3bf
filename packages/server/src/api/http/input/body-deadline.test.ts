import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { forgetDeadline, setDeadline } from './body-deadline.ts'

const requestOn = (socket: unknown) =>
  Object.assign(new EventEmitter(), {
    headers: { 'content-length': '3' },
    socket,
    complete: false,
  }) as unknown as IncomingMessage

test('whoever does not send a body in time is told so, unless the body is read by somebody else', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const late: unknown[] = []
  const watch = (socket: unknown) => {
    const request = requestOn(socket)
    setDeadline(request, (one) => late.push(one))
    return request
  }
  const slow = new Socket()
  watch(slow)
  forgetDeadline(watch(new Socket()))
  Object.assign(watch(new Socket()), { complete: true })
  const gone = new Socket()
  watch(gone)
  gone.emit('close')
  // The next request of a connection is waited for, whatever became of the one before.
  const used = new Socket()
  const before = watch(used)
  watch(used)
  forgetDeadline(before)
  // As requests within the process have it.
  watch(new EventEmitter())
  t.mock.timers.tick(60_000)
  assert.deepEqual(late, [slow, used])
})
