import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createRenewals } from './renewals.ts'
import type { Visibility } from './visibility.ts'

/** Renewals that end when the test says so, and a tab that it hides. */
function stage(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const runs: number[][] = []
  let end: () => void = () => {}
  let isHidden = false
  let tell = () => {}
  const visibility: Visibility = {
    isHidden: () => isHidden,
    subscribe(listener) {
      tell = listener
      return () => {}
    },
  }
  const renewals = createRenewals<number[]>({
    merge: (one, other) => [...one, ...other],
    renew: (numbers) =>
      new Promise((resolve) => {
        runs.push(numbers)
        end = resolve
      }),
    pauseFactor: 4,
    visibility,
  })
  const pass = (ms: number) => {
    now += ms
    t.mock.timers.tick(ms)
  }
  const finish = async () => {
    end()
    await new Promise(setImmediate)
  }
  const hide = (hidden: boolean) => {
    isHidden = hidden
    tell()
  }
  return { renewals, runs, pass, finish, hide }
}

test('the first change is shown at once, and a burst behind it makes one more renewal', async (t) => {
  const { renewals, runs, pass, finish } = stage(t)
  for (let number = 1; number <= 50; number++) renewals.add([number])
  assert.deepEqual(runs, [[1]])
  await finish()
  pass(499)
  assert.equal(runs.length, 1)
  pass(1)
  assert.deepEqual(
    runs.map(({ length }) => length),
    [1, 49],
  )
})

test('the pause grows with the time that a renewal takes', async (t) => {
  const { renewals, runs, pass, finish } = stage(t)
  renewals.add([1])
  renewals.add([2])
  pass(2_000)
  await finish()
  pass(7_999)
  assert.equal(runs.length, 1)
  pass(1)
  assert.equal(runs.length, 2)
})

test('a hidden tab renews nothing, and all at once when it is shown', async (t) => {
  const { renewals, runs, hide } = stage(t)
  hide(true)
  renewals.add([1])
  renewals.add([2])
  assert.deepEqual(runs, [])
  hide(false)
  assert.deepEqual(runs, [[1, 2]])
})

test('nothing is renewed after the end', async (t) => {
  const { renewals, runs, pass, finish } = stage(t)
  renewals.add([1])
  renewals.add([2])
  renewals.end()
  await finish()
  pass(60_000)
  assert.deepEqual(runs, [[1]])
})
