/**
 * Follows the changes of a dataset for a view of it: collects where something changed, and has that renewed, one renewal after the
 * other and at most two a second.
 */
import type { DatasetEvent } from '@graticule/client'
import type { DescribedTiles, MapClient } from '../map-client.ts'
import { isRefusal, persist, retryMs, sleep } from '../persist.ts'
import { type ChangedArea, union } from '../source/tile-area.ts'

export interface LiveView {
  /** Whether it can be renewed now. Until it can, changes are collected. */
  isReady(): boolean
  renew(changes: Changes, next: NextChanges): Promise<void>
  failed(error: unknown): void
  /** It will not be renewed any more: the dataset cannot be followed, is gone, or may not be read. */
  ended(error: unknown): void
}

export type Changes = {
  readonly area: ChangedArea
  /** Different for each state of the data that was heard of. */
  readonly token: string
  /** The version of the newest change that was heard of. */
  readonly lastChange: string | undefined
}
/** The changes of which is heard next; undefined if that takes too long. */
export type NextChanges = () => Promise<Changes | undefined>

const pauseMs = 500
/** The server tells of changes four times a second, unless a transaction that began before them is still writing. */
const maxEventMs = 5_000

export type FollowedDataset = { readonly datasetId: string; readonly apiKey?: string | undefined }

/** Returns a function that ends it. */
export function followDataset(client: MapClient, { datasetId, apiKey }: FollowedDataset, view: LiveView): () => void {
  const renewals = createRenewals({ ...view, ended: end })
  const stream = client.datasets.changeStream(datasetId, { apiKey })
  const leave = stream.listen((event) => {
    const changes = changesOf(event)
    if (changes) renewals.add(changes)
  })
  const stopObserving = stream.subscribe(observe)
  function observe(): void {
    const state = stream.getState()
    if (state.kind === 'refused') end(state.error)
    else if (state.kind === 'connecting' && state.error) view.failed(state.error)
  }
  function stop(): void {
    stopObserving()
    leave()
    renewals.end()
  }
  function end(error: unknown): void {
    stop()
    view.ended(error)
  }
  // Others may have been refused already.
  observe()
  return stop
}

/** Where a stream begins anew or has missed something, anything may have changed. */
function changesOf(event: DatasetEvent): Changes | undefined {
  if (event.type === 'change') return { area: event.boxes, token: event.version, lastChange: event.version }
  if (event.type === 'ready' && event.resumed) return undefined
  return { area: null, token: randomToken(), lastChange: undefined }
}

export type FollowedTiles = { readonly tileSourceId: string; readonly apiKey?: string | undefined }

/** Follows the dataset that tiles are made from; a dataset without a tile source is its own. `isOther`: they are of no dataset. */
export function followTiles(
  { tileSourceId, apiKey }: FollowedTiles,
  client: MapClient,
  view: LiveView & { isOther(): void },
): () => void {
  const asking = new AbortController()
  let leave: (() => void) | undefined
  async function find(): Promise<void> {
    const { dataset }: DescribedTiles = await client.tiles.describe(tileSourceId, { apiKey, signal: asking.signal })
    if (asking.signal.aborted) return
    if (dataset) leave = followDataset(client, { datasetId: dataset.id, apiKey }, view)
    else view.isOther()
  }
  void persist(find, asking.signal, view)
  return () => {
    asking.abort()
    leave?.()
  }
}

function createRenewals(view: LiveView) {
  let pending: Changes | undefined
  let isRunning = false
  let isEnded = false
  let wake = (): void => {}

  function add(more: Changes): void {
    pending = pending ? together(pending, more) : more
    wake()
    if (!isRunning && !isEnded) void run()
  }

  async function run(): Promise<void> {
    isRunning = true
    while (pending && !isEnded) await sleep(view.isReady() ? await renew(pending) : pauseMs)
    isRunning = false
  }

  /** Returns how long to pause. */
  async function renew(first: Changes): Promise<number> {
    let taken = first
    pending = undefined
    try {
      await view.renew(first, async () => {
        const next = await takeNext()
        if (next) taken = together(taken, next)
        return next
      })
      return pauseMs
    } catch (error) {
      if (!isEnded && isRefusal(error)) view.ended(error)
      else if (!isEnded) view.failed(error)
      const again = { ...taken, token: randomToken() }
      pending = pending ? together(again, pending as Changes) : again
      return retryMs
    }
  }

  async function takeNext(): Promise<Changes | undefined> {
    const isAdded = new Promise<void>((resolve) => {
      wake = resolve
    })
    if (!pending) await Promise.race([isAdded, sleep(maxEventMs)])
    const taken = pending
    pending = undefined
    return taken
  }

  return {
    add,
    end: () => {
      isEnded = true
    },
  }
}

const together = (one: Changes, other: Changes): Changes => ({
  area: union(one.area, other.area),
  token: other.token,
  lastChange: other.lastChange ?? one.lastChange,
})

export const randomToken = (): string => Math.random().toString(36).slice(2)
