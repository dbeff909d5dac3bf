import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { readPlatformServer } from '../../libpq/platform-server.ts'
import type { Done, RawConnection, RawStatement } from './raw-connection.ts'
import { createRawLanes, laneSession } from './raw-lanes.ts'

const statement: RawStatement = { text: 'SELECT 1', values: [], binary: [], isUntrusted: false }
const placeOf = (name: string) => laneSession({ platform: readPlatformServer(`postgres://${name}@own/db`) }, '')

/** Connections that answer when they are told to. */
function lanesOf(maxTotal: number) {
  const opened: { settings: string; sent: Done[]; isOpen: boolean }[] = []
  let refusal: Error | undefined
  const connect = async (_server: unknown, settings: string): Promise<RawConnection> => {
    if (refusal) throw refusal
    const one = { settings, sent: [] as Done[], isOpen: true }
    opened.push(one)
    return {
      run: () => Promise.reject(new Error('not here')),
      send: (_statement, _onRow, done) => void one.sent.push(done),
      cancel() {
        one.isOpen = false
        for (const done of one.sent.splice(0)) done(new Error('cancelled'))
      },
      close() {
        one.isOpen = false
      },
      get isOpen() {
        return one.isOpen
      },
      get underWay() {
        return one.sent.length
      },
    }
  }
  const lanes = createRawLanes(maxTotal, 500, connect)
  return {
    lanes,
    opened,
    refuse(error: Error | undefined) {
      refusal = error
    },
    send: (name: string, done: Done = () => {}) => lanes.send(placeOf(name), statement, () => {}, done),
  }
}

describe('lanes', () => {
  test('have no place until a connection is open, whose statements are limited in time', async () => {
    const { send, opened, lanes } = lanesOf(4)
    assert.equal(send('a'), false)
    await turn()
    assert.equal(send('a'), true)
    assert.match(opened[0]?.settings ?? '', /SET statement_timeout = 500$/)
    lanes.close()
  })

  test('fill a second connection before the first one carries many, and refuse what both have no place for', async () => {
    const { send, opened, lanes } = lanesOf(4)
    send('a')
    await turn()
    for (let n = 0; n < 5; n++) assert.equal(send('a'), true)
    await turn()
    for (let n = 0; n < 27; n++) assert.equal(send('a'), true)
    assert.deepEqual(
      opened.map(({ sent }) => sent.length),
      [16, 16],
    )
    assert.equal(send('a'), false)
    lanes.close()
  })

  test('are given to another session only when they rest', async () => {
    const { send, opened, lanes } = lanesOf(1)
    send('a')
    await turn()
    assert.equal(send('a'), true)
    send('b')
    await turn()
    assert.equal(send('b'), false, 'the connection of a is in use')
    assert.equal(opened.length, 1)
    lanes.close()
  })

  test('of a server that refuses are not tried again at once, and a lost one is replaced', async () => {
    const { send, opened, refuse, lanes } = lanesOf(2)
    refuse(new Error('no'))
    send('a')
    await turn()
    refuse(undefined)
    send('a')
    await turn()
    assert.equal(opened.length, 0)
    send('b')
    await turn()
    assert.equal(send('b'), true)
    for (const one of opened) one.isOpen = false
    assert.equal(send('b'), false)
    await turn()
    assert.equal(send('b'), true)
    lanes.close()
  })

  test('tell what they carry of the end, and open no more', async () => {
    const { send, opened, lanes } = lanesOf(2)
    send('a')
    await turn()
    const errors: unknown[] = []
    send('a', (error) => errors.push(error))
    lanes.close()
    assert.match(String(errors), /cancelled/)
    assert.equal(send('a'), false)
    await turn()
    assert.equal(opened.length, 1)
  })
})
