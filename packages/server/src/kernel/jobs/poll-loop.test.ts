import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { stays, until } from '../../../testing/until.ts'
import { createBackground } from './background.ts'
import { createPollLoop } from './poll-loop.ts'

/** A loop whose turns last until they are let go. */
function heldLoop({ isWanted = (): boolean => false, pauseMs = 60_000 } = {}) {
  const errors: unknown[] = []
  const turns: PromiseWithResolvers<number>[] = []
  const background = createBackground((error) => errors.push(error))
  const loop = createPollLoop({
    background,
    isWanted,
    afterFailureMs: 1,
    onError: (error) => errors.push(error),
    take() {
      const turn = Promise.withResolvers<number>()
      turns.push(turn)
      return turn.promise
    },
  })
  const end = async (error?: Error): Promise<void> => {
    if (error) turns.at(-1)?.reject(error)
    else turns.at(-1)?.resolve(pauseMs)
    for (let n = 0; n < 3; n++) await nextTurn()
  }
  return { loop, turns, errors, background, end }
}

test('those who ask during a turn are served by one more, which begins after it', async () => {
  const { loop, turns, background, end } = heldLoop()
  let served = 0
  const ask = (): Promise<number> => loop.next().then(() => ++served)
  const first = ask()
  await nextTurn()
  const later = [ask(), ask()]
  loop.poke()
  assert.equal(turns.length, 1)
  await end()
  await first
  assert.deepEqual([turns.length, served], [2, 1])
  await end()
  await Promise.all(later)
  assert.deepEqual([turns.length, served], [2, 3])
  await background.close()
})

test('a turn that fails is told to those who wait for it, and the loop goes on while it is wanted', async () => {
  let isWanted = true
  const { loop, turns, errors, background, end } = heldLoop({ isWanted: () => isWanted })
  const failing = assert.rejects(loop.next(), /gone/)
  await nextTurn()
  await end(new Error('gone'))
  await failing
  assert.equal(errors.length, 1)
  await until(() => turns.length >= 2)
  isWanted = false
  await end()
  await background.close()
})

test('no turn follows when none is wanted and nobody asks', async () => {
  const { loop, turns, background, end } = heldLoop({ pauseMs: 0 })
  const done = loop.next()
  await nextTurn()
  await end()
  await done
  await stays(() => turns.length === 1, 50)
  await background.close()
})
