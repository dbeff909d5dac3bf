/**
 * Cuts the bytes of a PostgreSQL server into messages. Runs of whole messages are handed on where they lie; the beginning
 * of one whose end has not arrived is kept, in a buffer that doubles, because a hostile server may send byte by byte.
 */
import { must } from './backend-messages.ts'

export type MessageFramer = {
  /** The messages of this chunk that are whole and admitted, in as few pieces as they lie in. */
  received(chunk: Buffer): Buffer[]
  /** Forgets what has arrived of a message. */
  close(): void
}

export type MessageRules = {
  /** Throws when no such message may come. `length` is what the header says: without the code, with itself. */
  checkHeader(code: number, length: number): void
  /** Whether the message is handed on. Its body lies from `start` to `end`. */
  admit(code: number, bytes: Buffer, start: number, end: number): boolean
}

const headerBytes = 5
const maxHeldBytes = 256 << 20

/** Bounds the memory of messages that have begun to arrive, over all connections of a thread. */
export type MessageMemory = { change(bytes: number): void }

export function createMessageMemory(): MessageMemory {
  let held = 0
  return {
    change(bytes) {
      must(held + bytes <= maxHeldBytes, 'more than this server can hold in memory')
      held += bytes
    },
  }
}

export function createMessageFramer({ checkHeader, admit }: MessageRules, memory: MessageMemory): MessageFramer {
  const partial = createPartialMessage(checkHeader, memory)

  /** Completes the message that had begun; answers how much of the chunk that took. */
  function complete(chunk: Buffer, passed: Buffer[]): number {
    const taken = partial.add(chunk)
    const whole = partial.takeWhole()
    if (whole && admit(whole[0] as number, whole, headerBytes, whole.length)) passed.push(whole)
    return taken
  }

  return {
    received(chunk) {
      const passed: Buffer[] = []
      let at = partial.isEmpty ? 0 : complete(chunk, passed)
      if (!partial.isEmpty) return passed
      let runStart = at
      const endRun = (next: number): void => {
        if (at > runStart) passed.push(chunk.subarray(runStart, at))
        runStart = next
      }
      while (chunk.length - at >= headerBytes) {
        const code = chunk[at] as number
        const length = chunk.readInt32BE(at + 1)
        checkHeader(code, length)
        const end = at + 1 + length
        if (end > chunk.length) break
        if (!admit(code, chunk, at + headerBytes, end)) endRun(end)
        at = end
      }
      endRun(at)
      if (at < chunk.length) partial.begin(chunk.subarray(at))
      return passed
    },
    close: partial.clear,
  }
}

function createPartialMessage(checkHeader: MessageRules['checkHeader'], memory: MessageMemory) {
  let held = Buffer.alloc(0)
  let length = 0
  /** Of the whole message; nothing while its header is incomplete. */
  let needed: number | undefined

  function append(bytes: Buffer): void {
    const size = length + bytes.length
    if (size > held.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(size, Math.min(2 * held.length, needed ?? size)))
      memory.change(grown.length - held.length)
      held.copy(grown, 0, 0, length)
      held = grown
    }
    length += bytes.copy(held, length)
  }
  function clear(): void {
    memory.change(-held.length)
    held = Buffer.alloc(0)
    length = 0
    needed = undefined
  }
  return {
    get isEmpty() {
      return length === 0
    },
    /** The header, if it is there, was checked already. */
    begin(bytes: Buffer): void {
      if (bytes.length >= headerBytes) needed = 1 + bytes.readInt32BE(1)
      append(bytes)
    },
    /** Answers how many bytes of the chunk belong to the message. */
    add(chunk: Buffer): number {
      let taken = 0
      if (needed === undefined) {
        taken = Math.min(headerBytes - length, chunk.length)
        append(chunk.subarray(0, taken))
        if (length < headerBytes) return taken
        checkHeader(held[0] as number, held.readInt32BE(1))
        needed = 1 + held.readInt32BE(1)
      }
      const rest = chunk.subarray(taken, taken + needed - length)
      append(rest)
      return taken + rest.length
    },
    takeWhole(): Buffer | undefined {
      if (needed === undefined || length < needed) return undefined
      const whole = held.subarray(0, length)
      clear()
      return whole
    },
    clear,
  }
}
