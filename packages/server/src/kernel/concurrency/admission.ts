/**
 * Admission control: a counting semaphore that many owners share. Who waits is served by how little its owner holds, then owners
 * take turns (round robin), so that no owner keeps the others waiting with a queue of its own.
 */
export type Admission = {
  /** At once where there is room, so that nobody waits for a promise; what it gives ends the stay, once. */
  admit(owner: string, options?: AdmitOptions): Release | Promise<Release>
  /** Without waiting: nothing where there is no room. */
  tryAdmit(owner: string, atMost?: number): Release | undefined
  /** The same for whoever counts by itself: each `enter` is followed by one `leave`. */
  enter(owner: string, options?: AdmitOptions): undefined | Promise<void>
  leave(owner: string): void
  /** How many are in, of all owners. */
  readonly taken: number
}

export type Release = () => void

export type AdmitOptions = {
  /** Whoever leaves while waiting gives up its place. */
  readonly signal?: AbortSignal | undefined
  /** The most of this owner, if it differs from the usual. */
  readonly atMost?: number
}

export type AdmissionOptions = {
  /** The most of all owners together. */
  readonly total?: number
  /** The most of each owner. */
  readonly perOwner?: number
  /**
   * A quarter is kept for owners who hold none, and of the rest an owner of n gets another only while more than n are free
   * (a dynamic threshold, as in switches with shared buffers). So greedy owners leave room for others.
   */
  readonly leavesRoom?: boolean
  readonly maxWaiting?: number
  /** An owner of whom n wait gets another place in the queue only while more than n are left, so that there always is one for others. */
  readonly sharesQueue?: boolean
  /** For how long one waits. */
  readonly waitMs?: number
  /** What is thrown when too many wait, or for too long. Absent where nobody waits. */
  refuse?(heldByOwner: number): Error
}

const unlimited = Number.POSITIVE_INFINITY
const noRoom = (): Error => new Error('There is no room.')

export function createAdmission(options: AdmissionOptions): Admission {
  const { perOwner = unlimited, maxWaiting = unlimited, sharesQueue = false, waitMs, refuse = noRoom } = options
  const slots = createSlots(options)
  const queue = createQueue(slots)

  function wait(owner: string, atMost: number, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const stop = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      leaveQueue()
    }
    const giveUp = (reason: unknown): void => {
      stop()
      reject(reason)
    }
    const onAbort = (): void => giveUp(signal?.reason)
    const onLate = (): void => giveUp(refuse(slots.heldBy(owner)))
    const timer = waitMs === undefined ? undefined : setTimeout(onLate, waitMs)
    signal?.addEventListener('abort', onAbort, { once: true })
    const leaveQueue = queue.add(owner, atMost, () => {
      stop()
      slots.count(owner, 1)
      resolve()
    })
    return promise
  }

  function hasRoomInQueue(owner: string, atMost: number): boolean {
    const left = maxWaiting - queue.size
    return left > (sharesQueue ? queue.waitingOf(owner, atMost) : 0)
  }

  function enter(owner: string, { signal, atMost = perOwner }: AdmitOptions = {}): undefined | Promise<void> {
    signal?.throwIfAborted()
    if (!slots.isFree(owner, atMost)) {
      if (!hasRoomInQueue(owner, atMost)) throw refuse(slots.heldBy(owner))
      return wait(owner, atMost, signal)
    }
    slots.count(owner, 1)
    return undefined
  }

  function leave(owner: string): void {
    slots.count(owner, -1)
    for (let letIn = queue.next(); letIn; letIn = queue.next()) letIn()
  }

  function releaseOf(owner: string): Release {
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      leave(owner)
    }
  }

  return {
    enter,
    leave,
    admit(owner, wanted) {
      const entered = enter(owner, wanted)
      return entered ? entered.then(() => releaseOf(owner)) : releaseOf(owner)
    },
    tryAdmit(owner, atMost = perOwner) {
      if (!slots.isFree(owner, atMost)) return undefined
      slots.count(owner, 1)
      return releaseOf(owner)
    },
    get taken() {
      return slots.taken
    },
  }
}

type Slots = ReturnType<typeof createSlots>

/** Who holds how many. */
function createSlots({ total = unlimited, leavesRoom = false }: AdmissionOptions) {
  const reserve = leavesRoom ? Math.floor(total / 4) : 0
  const held = new Map<string, number>()
  let taken = 0
  const heldBy = (owner: string): number => held.get(owner) ?? 0
  return {
    heldBy,
    isFree(owner: string, atMost: number): boolean {
      const own = heldBy(owner)
      const free = total - taken
      return own < atMost && free > 0 && (!leavesRoom || own === 0 || own < free - reserve)
    },
    count(owner: string, change: 1 | -1): void {
      const now = heldBy(owner) + change
      if (now === 0) held.delete(owner)
      else held.set(owner, now)
      taken += change
    },
    get taken() {
      return taken
    },
  }
}

/** Lets one enter. */
type Waiting = () => void
/** Those of an owner with the same limit, in the order of arrival: if the first may not enter, none of them may. */
type Line = { readonly owner: string; readonly atMost: number; readonly waiting: Set<Waiting> }

const lineKey = (owner: string, atMost: number): string => `${atMost} ${owner}`

/** Who waits. */
function createQueue({ isFree, heldBy }: Slots) {
  /** In the order of their turns: who was served goes to the end. */
  const lines = new Map<string, Line>()
  let size = 0

  function firstLine(): Line | undefined {
    let best: { readonly line: Line; readonly own: number } | undefined
    for (const line of lines.values()) {
      if (!isFree(line.owner, line.atMost)) continue
      const own = heldBy(line.owner)
      if (!best || own < best.own) best = { line, own }
    }
    return best?.line
  }

  return {
    get size() {
      return size
    },
    waitingOf: (owner: string, atMost: number): number => lines.get(lineKey(owner, atMost))?.waiting.size ?? 0,
    /** What it gives takes the place in the queue away again. */
    add(owner: string, atMost: number, enter: () => void): () => void {
      const key = lineKey(owner, atMost)
      const line: Line = lines.get(key) ?? { owner, atMost, waiting: new Set() }
      const me: Waiting = () => enter()
      lines.set(key, line)
      line.waiting.add(me)
      size++
      return () => {
        size--
        line.waiting.delete(me)
        if (line.waiting.size === 0) lines.delete(key)
      }
    },
    /** Whose turn it is, of those for whom there is a place. */
    next(): Waiting | undefined {
      const line = firstLine()
      if (!line) return undefined
      const key = lineKey(line.owner, line.atMost)
      lines.delete(key)
      lines.set(key, line)
      const [first] = line.waiting
      return first
    },
  }
}
