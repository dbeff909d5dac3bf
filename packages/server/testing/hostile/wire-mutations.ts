import type { Mutation } from './rogue-postgres.ts'

// Ways in which what a PostgreSQL server says can be wrong, chosen by a seed.

/** Numbers in [0, 1) that follow from the seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

type Draw = { below(limit: number): number; one<T>(items: readonly T[]): T }
type Change = (answer: Buffer, draw: Draw) => Buffer[]

const oddLengths = [0, 1, 3, 4, 5, 6, 100, 65_535, 1 << 20, (32 << 20) + 5, 0x7fffffff, -1, -2, -0x80000000]
const codes = Array.from('RSKZTDCEN1234nIstGHWdcAvV?\0\xff')

/** Where the messages of an answer begin. An answer to a request for TLS has none. */
function starts(answer: Buffer): number[] {
  const found: number[] = []
  for (let at = 0; at + 5 <= answer.length; at += 1 + Math.max(4, answer.readInt32BE(at + 1))) found.push(at)
  return found
}

function pieces(answer: Buffer): Buffer[] {
  const all = starts(answer)
  return all.map((start, index) => answer.subarray(start, all[index + 1] ?? answer.length))
}

const changes: Change[] = [
  // A byte is another.
  (answer, { below }) => {
    const bytes = Buffer.from(answer)
    if (bytes.length > 0) bytes[below(bytes.length)] = below(256)
    return [bytes]
  },
  // A length is another.
  (answer, { below, one }) => {
    const bytes = Buffer.from(answer)
    const all = starts(bytes)
    if (all.length > 0) bytes.writeInt32BE(below(3) === 0 ? below(2 ** 31) : one(oddLengths), one(all) + 1)
    return [bytes]
  },
  // A count, or whatever stands first in a body.
  (answer, { below, one }) => {
    const bytes = Buffer.from(answer)
    const all = starts(bytes).filter((start) => start + 7 <= bytes.length)
    if (all.length > 0) bytes.writeInt16BE(below(65_536) - 32_768, one(all) + 5)
    return [bytes]
  },
  // It ends too early.
  (answer, { below }) => [answer.subarray(0, below(answer.length))],
  // A message is missing, comes twice, or in another place.
  (answer, { below }) => pieces(answer).toSpliced(below(8), 1),
  (answer, { below }) => {
    const all = pieces(answer)
    const again = all[below(all.length)]
    return again ? all.toSpliced(below(all.length), 0, again) : all
  },
  (answer) => pieces(answer).toReversed(),
  // One more message than there should be.
  (answer, { below, one }) => {
    const length = below(40)
    const stray = Buffer.from(Array.from({ length: length + 5 }, () => below(256)))
    stray.write(one(codes), 'latin1')
    stray.writeInt32BE(below(4) === 0 ? one(oddLengths) : length + 4, 1)
    const all = pieces(answer)
    return all.toSpliced(below(all.length + 1), 0, stray)
  },
  // One kind of message for another.
  (answer, { one }) => {
    const bytes = Buffer.from(answer)
    const all = starts(bytes)
    if (all.length > 0) bytes.write(one(codes), one(all), 'latin1')
    return [bytes]
  },
  // Anything at all.
  (_, { below }) => [Buffer.from(Array.from({ length: below(300) }, () => below(256)))],
  // The right thing, byte by byte.
  (answer) => Array.from(answer.subarray(0, 2_000), (_, at) => answer.subarray(at, at + 1)),
  // Far too much of one message.
  (answer, { one }) => {
    const all = pieces(answer)
    return all.length === 0 ? [answer] : [...Array.from({ length: 2_000 }, () => one(all)), answer]
  },
]

/** One answer of the conversation, sometimes all of them, is changed. */
export function mutationOf(seed: number): Mutation {
  const random = randomOf(seed)
  const draw: Draw = {
    below: (limit) => Math.floor(random() * limit),
    one: (items) => items[Math.floor(random() * items.length)] as (typeof items)[number],
  }
  const target = draw.below(9)
  const isAlways = draw.below(20) === 0
  const hangsUp = draw.below(3) === 0
  let answers = 0
  let isChanged = false
  const mutate = (answer: Buffer): Buffer[] => {
    if (answers++ !== target && !isAlways) return [answer]
    isChanged = true
    return draw.one(changes)(answer, draw)
  }
  return Object.assign(mutate, { isChanged: () => isChanged, hangsUp })
}
