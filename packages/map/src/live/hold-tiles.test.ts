import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, test } from 'node:test'
import type { Source, Tile } from 'maplibre-gl'
import { type HeldTiles, swapTogether } from './hold-tiles.ts'

// How MapLibre loads tiles, without a map (live.test.ts has real ones): here they arrive in the order that the test says.

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
afterEach(() => mock.timers.reset())

class TestTile {
  state: Tile['state']
  aborted = false
  shown = 'old'
  constructor(state: Tile['state']) {
    this.state = state
  }
  hasData(): boolean {
    return ['loaded', 'reloading', 'expired'].includes(this.state)
  }
  loadVectorData(data: unknown): void {
    this.state = 'loaded'
    this.shown = String(data)
  }
  unloadVectorData(): void {
    this.state = 'unloaded'
    this.shown = ''
  }
}
type Shown = Tile & { shown: string }
const tileOf = (state: Tile['state'] = 'expired'): Shown => new TestTile(state) as unknown as Shown
const shown = (...tiles: Shown[]) => tiles.map((tile) => tile.shown)

function testSource() {
  const requests = new Map<Tile, PromiseWithResolvers<string>>()
  const source = {
    async loadTile(tile: Tile) {
      const request = Promise.withResolvers<string>()
      requests.set(tile, request)
      const data = await request.promise
      if (!tile.aborted) tile.loadVectorData(data as never, {} as never)
    },
  } as unknown as Source
  return { source, requests, arrive: (tile: Tile) => requests.get(tile)?.resolve('new') }
}

const swap = (source: Source, request: (held: HeldTiles) => unknown): Promise<void> =>
  swapTogether(source, (held) => held.load(async () => void request(held)))
/** Lets everything happen that needs no time. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('reloaded tiles change together, when the last one has arrived', async () => {
  const { source, arrive } = testSource()
  const [one, other, untouched] = [tileOf(), tileOf(), tileOf('loaded')]
  const loads: Promise<unknown>[] = []
  const swapped = swap(source, () => loads.push(source.loadTile(one), source.loadTile(other)))
  await settle()
  arrive(one)
  await settle()
  assert.deepEqual([shown(one, other, untouched), one.state], [['old', 'old', 'old'], 'expired'])
  arrive(other)
  await swapped
  await Promise.all(loads)
  assert.deepEqual(shown(one, other, untouched), ['new', 'new', 'old'])
  assert.equal(Object.hasOwn(one, 'loadVectorData'), false)
})

test('a tile that does not arrive holds the others for ten seconds only', async () => {
  const { source, arrive } = testSource()
  const [one, slow] = [tileOf(), tileOf()]
  const swapped = swap(source, () => [source.loadTile(one), source.loadTile(slow)])
  await settle()
  arrive(one)
  await settle()
  mock.timers.tick(9_999)
  await settle()
  assert.deepEqual(shown(one, slow), ['old', 'old'])
  mock.timers.tick(1)
  await swapped
  assert.deepEqual(shown(one, slow), ['new', 'old'])
  arrive(slow)
  await settle()
  assert.deepEqual(shown(slow), ['new'])
})

test('a tile that fails goes on showing what it had, and the others change at once', async () => {
  const { source, arrive, requests } = testSource()
  const [one, broken] = [tileOf(), tileOf()]
  const loads: Promise<unknown>[] = []
  const swapped = swap(source, () => loads.push(source.loadTile(one), source.loadTile(broken)))
  await settle()
  arrive(one)
  requests.get(broken)?.reject(new Error('Bad gateway'))
  await assert.rejects(swapped, /Bad gateway/)
  assert.deepEqual([shown(one, broken), broken.state], [['new', 'old'], 'loaded'])
  assert.deepEqual(await Promise.all(loads), [undefined, { unmodified: true }])
})

test('a tile that comes into view meanwhile is not ahead of the others, nor waited for', async () => {
  const { source, arrive } = testSource()
  const [one, early, late] = [tileOf(), tileOf('loading'), tileOf('loading')]
  const swapped = swap(source, () => source.loadTile(one))
  await settle()
  void source.loadTile(early)
  void source.loadTile(late)
  await settle()
  arrive(early)
  await settle()
  assert.deepEqual(shown(one, early), ['old', 'old'])
  arrive(one)
  await swapped
  assert.deepEqual(shown(one, early, late), ['new', 'new', 'old'])
})

test('a tile that is loading is loaded again afterwards, and one that has failed is loaded anew', async () => {
  const { source, arrive, requests } = testSource()
  const [loading, failed] = [tileOf('loading'), Object.assign(tileOf('loading'), { actor: {} as never })]
  const swapped = swap(source, (held) => {
    held.markLoading(loading)
    return [source.loadTile(loading), source.loadTile(failed)]
  })
  await settle()
  assert.deepEqual([requests.has(loading), Object.hasOwn(failed, 'actor')], [false, false])
  loading.loadVectorData('first' as never, {} as never)
  mock.timers.tick(50)
  await settle()
  assert.deepEqual([loading.shown, loading.state], ['first', 'expired'])
  arrive(loading)
  arrive(failed)
  await swapped
  assert.deepEqual(shown(loading, failed), ['new', 'new'])
})

test('a tile that is removed while it is held stays empty, and a new swap ends the one before', async () => {
  const { source, arrive } = testSource()
  const [removed, other, next] = [tileOf(), tileOf(), tileOf()]
  const first = swap(source, () => [source.loadTile(removed), source.loadTile(other)])
  await settle()
  arrive(removed)
  await settle()
  removed.unloadVectorData()
  const second = swap(source, () => source.loadTile(next))
  assert.deepEqual(shown(removed, other), ['', 'old'])
  await settle()
  arrive(other)
  await first
  assert.deepEqual(shown(other), ['new'])
  arrive(next)
  await second
  assert.deepEqual(shown(next), ['new'])
})
