/// <reference lib="dom" />
/**
 * Follows the changes of a dataset for a data source: collects where something changed, and has that renewed, one renewal after
 * the other and at most two a second. While the page is hidden the connection is closed; the last event's id resumes it.
 */
import type { DatasetEvents, MapClient } from './map-client.ts'

export type Box = readonly [west: number, south: number, east: number, north: number]
/** Where something changed; null if that is not known, so anywhere. */
export type ChangedArea = readonly Box[] | null

export interface LiveView {
  /** Whether it can be renewed now. Until it can, changes are collected. */
  isReady(): boolean
  /** `token` is different for each state of the data that was heard of. */
  renew(area: ChangedArea, token: string): Promise<void>
  failed(error: unknown): void
}

type Pending = { readonly area: ChangedArea; readonly token: string }

const pauseMs = 500
const retryMs = 5_000
/** Above it, renewing everything costs less than comparing. */
const maxBoxes = 200

/** Returns a function that ends it. */
export function followDataset(
  { datasets }: MapClient,
  { datasetId, apiKey }: { datasetId: string; apiKey?: string | undefined },
  view: LiveView,
): () => void {
  const renewals = createRenewals(view)
  let connection: AbortController | undefined
  let lastEventId: string | undefined

  async function connect(signal: AbortSignal): Promise<void> {
    for await (const event of datasets.watch(datasetId, { signal, apiKey, lastEventId })) {
      if (event.type !== 'ready') lastEventId = event.id
      take(event)
    }
  }

  function take(event: DatasetEvents): void {
    if (event.type === 'change') renewals.add({ area: event.boxes, token: event.version })
    // What was loaded before the stream began may be older than it.
    else if (event.type === 'reset' || !event.resumed) renewals.add({ area: null, token: randomToken() })
  }

  function onVisibility(): void {
    connection?.abort()
    connection = document.hidden ? undefined : new AbortController()
    if (connection) void persist(connect, connection.signal, view.failed)
  }

  document.addEventListener('visibilitychange', onVisibility)
  onVisibility()
  return () => {
    document.removeEventListener('visibilitychange', onVisibility)
    connection?.abort()
    renewals.end()
  }
}

/** Connects again while the failure is a passing one. */
async function persist(
  connect: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
  failed: LiveView['failed'],
): Promise<void> {
  while (!signal.aborted) {
    const error = await connect(signal).catch((reason: unknown) => reason)
    if (signal.aborted) return
    failed(error)
    if (!isPassing(error)) return
    await sleep(retryMs)
  }
}

function createRenewals(view: LiveView) {
  let pending: Pending | undefined
  let isRunning = false
  let isEnded = false

  const add = (more: Pending): void => {
    pending = { area: pending ? union(pending.area, more.area) : more.area, token: more.token }
    if (!isRunning && !isEnded) void run()
  }

  async function run(): Promise<void> {
    isRunning = true
    while (pending && !isEnded) await sleep(view.isReady() ? await renew(pending) : pauseMs)
    isRunning = false
  }

  /** Returns how long to pause. */
  async function renew(taken: Pending): Promise<number> {
    pending = undefined
    try {
      await view.renew(taken.area, taken.token)
      return pauseMs
    } catch (error) {
      if (!isEnded) view.failed(error)
      pending = { area: pending ? union(taken.area, (pending as Pending).area) : taken.area, token: randomToken() }
      return retryMs
    }
  }

  return {
    add,
    end: () => {
      isEnded = true
    },
  }
}

function union(one: ChangedArea, other: ChangedArea): ChangedArea {
  if (!one || !other || one.length + other.length > maxBoxes) return null
  return [...one, ...other]
}

/** Whether the server or the way to it may be better later. */
function isPassing(error: unknown): boolean {
  const { status = 0 } = error as { status?: number }
  return status === 0 || status === 429 || status >= 500
}

const randomToken = (): string => Math.random().toString(36).slice(2)

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
