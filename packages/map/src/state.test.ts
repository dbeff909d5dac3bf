import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createState, type State, stateOfObject, stateOfStore } from './state.ts'

/** Notes what a path's listener is told. */
function watch(state: State, path: string) {
  const told: unknown[] = []
  return { told, end: state.subscribe(path, (value) => told.push(value)) }
}

/** A store as zustand makes it. */
function store(initial: object) {
  let current: unknown = initial
  const listeners = new Set<() => void>()
  return {
    getState: () => current,
    setState(next: object) {
      current = { ...(current as object), ...next }
      for (const listener of listeners) listener()
    },
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

const kinds: Record<string, (initial: object) => State> = {
  'a state of its own': createState,
  'a store': (initial) => stateOfStore(store(initial)),
  'a plain object': stateOfObject,
}

for (const [name, make] of Object.entries(kinds))
  test(`${name} tells listeners of a path of changes there, and of no others`, () => {
    const state = make({ ui: { city: null, zoom: 3 } })
    const { told, end } = watch(state, 'ui.city')
    state.set('ui.city', 5)
    state.set('ui.city', 5)
    state.set('ui.zoom', 4)
    state.set('ui', { city: 6 })
    state.set('other.deep.path', true)
    assert.deepEqual(told, [5, 6])
    assert.deepEqual(
      [state.get('ui.city'), state.get('ui.zoom'), state.get('other.deep')],
      [6, undefined, { path: true }],
    )
    end()
    state.set('ui.city', 7)
    assert.deepEqual(told, [5, 6])
  })

test('a state never changes values in place', () => {
  const initial = { ui: { city: 1 }, rest: {} }
  const state = createState(initial)
  state.set('ui.city', 2)
  assert.deepEqual(initial, { ui: { city: 1 }, rest: {} })
  assert.equal(state.get('rest'), initial.rest)
})

test('assignments to an observed object are told, and set writes into the object itself', () => {
  const target = { ui: { city: 1 as number | null, cities: [] as number[] } }
  const state = stateOfObject(target)
  const { told } = watch(state, 'ui.city')
  state.observed.ui.city = 2
  state.set('ui.city', 3)
  assert.deepEqual([told, target.ui.city, state.observed.ui.city], [[2, 3], 3, 3])
})

test('a path that is none is refused', () => {
  const state = createState()
  assert.throws(() => state.get('ui..city'), /"ui\.\.city" is not a path of the state/)
  assert.throws(() => state.set('__proto__.x', 1), /is not a path/)
  assert.equal(state.get('constructor'), undefined)
})
