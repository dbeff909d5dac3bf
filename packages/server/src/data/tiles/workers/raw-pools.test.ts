import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { RawConnection } from '../../../kernel/db/postgres/raw-connection.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { readPlatformServer } from '../../../kernel/libpq/platform-server.ts'
import { createRawPools } from './raw-pools.ts'

type Run = { text: string; server: string; end(error?: Error): void; connection: number }

/** Connections that answer when they are told to. */
function database() {
  const runs: Run[] = []
  const open = new Set<number>()
  let made = 0
  let most = 0
  const connect = async (server: unknown): Promise<RawConnection> => {
    const id = made++
    open.add(id)
    most = Math.max(most, open.size)
    const close = () => void open.delete(id)
    let fail = (_: Error): void => {}
    return {
      run: ({ text }) =>
        new Promise((resolve, reject) => {
          fail = reject
          const end = (error?: Error) => (error ? reject(error) : resolve())
          runs.push({ text, server: (server as { url: string }).url, end, connection: id })
        }),
      cancel: () => {
        close()
        fail(new Error('cancelled'))
      },
      close,
      send() {},
      underWay: 0,
      get isOpen() {
        return open.has(id)
      },
    }
  }
  const pools = createRawPools(16, connect)
  const never = new AbortController().signal
  const ask = (url: string, text = 'a', signal = never) =>
    pools.run(
      {
        server: { platform: readPlatformServer(`postgres://${url}`) },
        settings: '',
        statement: { text, values: [], binary: [], isUntrusted: false },
      },
      signal,
      () => {},
    )
  return { runs, open, ask, close: pools.close, made: () => made, most: () => most }
}

/** Lets everything happen that can. */
const settle = async () => {
  for (let times = 0; times < 10; times++) await setImmediate()
}

describe('the connections of a worker', () => {
  test('are used again', async () => {
    const { runs, ask, made } = database()
    for (let times = 0; times < 5; times++) {
      const asked = ask('a')
      await settle()
      runs.at(-1)?.end()
      await asked
    }
    assert.equal(made(), 1)
  })

  test('are few to each database, and who waits is served in turn', async () => {
    const { runs, ask, made } = database()
    const asked = Array.from({ length: 10 }, (_, index) => ask('a', `${index}`))
    await settle()
    assert.equal(runs.length, 4)
    for (let at = 0; at < 10; at++) {
      runs[at]?.end()
      await settle()
    }
    await Promise.all(asked)
    assert.deepEqual(
      runs.map(({ text }) => text),
      Array.from({ length: 10 }, (_, index) => `${index}`),
    )
    assert.equal(made(), 4)
  })

  test('are few to all databases together: whoever is idle gives way', async () => {
    const { runs, ask, most, open } = database()
    for (let round = 0; round < 2; round++) {
      const asked = Array.from({ length: 100 }, (_, index) => ask(`server ${index % 50}`))
      for (let at = runs.length - 1; at < (round + 1) * 100; at++) {
        await settle()
        for (const { end } of runs) end()
      }
      await Promise.all(asked)
    }
    assert.equal(runs.length, 200)
    assert.ok(most() <= 16, String(most()))
    assert.ok(open.size <= 16)
  })

  test('are no longer waited for by who has left', async () => {
    const { runs, ask } = database()
    const busy = Array.from({ length: 4 }, () => ask('a'))
    await settle()
    const leaving = new AbortController()
    const left = ask('a', 'left', leaving.signal)
    const stays = ask('a', 'stays')
    await settle()
    leaving.abort(new Error('left'))
    await assert.rejects(left, /left/)
    for (const { end } of runs) end()
    await settle()
    runs.at(-1)?.end()
    await Promise.all([...busy, stays])
    assert.deepEqual(
      runs.slice(4).map(({ text }) => text),
      ['stays'],
    )
  })

  test('are waited for in vain for half a minute at most, and then the limit is named', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { ask, close } = database()
    const all = Promise.allSettled(Array.from({ length: 4 }, () => ask('a')))
    const late = ask('a')
    late.catch(() => {})
    await settle()
    t.mock.timers.tick(30_000)
    await assert.rejects(late, { code: 'busy', extensions: { limit: 4, limitName: 'tileConnections' } })
    close()
    await all
  })

  test('are all closed at the end, also those that are busy, and no query begins afterwards', async () => {
    const { runs, ask, close, open } = database()
    const first = ask('a')
    await settle()
    runs[0]?.end()
    await first
    const busy = ask('b')
    await settle()
    assert.equal(open.size, 2)
    close()
    await assert.rejects(busy, /cancelled/)
    await assert.rejects(ask('a'), /closed/)
    assert.equal(open.size, 0)
  })

  test('that were lost are replaced once, and a query that failed is not asked again', async () => {
    const { runs, ask, made } = database()
    const asked = ask('a')
    await settle()
    runs[0]?.end(new ApiError('unavailable', 'lost'))
    await settle()
    runs[1]?.end()
    await asked
    assert.equal(made(), 2)
    const twice = ask('a')
    await settle()
    runs[2]?.end(new ApiError('unavailable', 'lost'))
    await settle()
    runs[3]?.end(new ApiError('unavailable', 'lost again'))
    await assert.rejects(twice, /lost again/)
    const wrong = ask('a')
    await settle()
    runs[4]?.end(new Error('no such column'))
    await assert.rejects(wrong, /no such column/)
    assert.equal(runs.length, 5)
  })
})
