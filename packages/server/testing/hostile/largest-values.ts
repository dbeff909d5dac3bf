/** The largest JSON values that the limits allow, in the shapes that cost a parser or a validator most for each byte. */
import { limits } from '../../src/kernel/limits/limits.ts'

/** What a value may take. */
export type ValueBudget = {
  readonly bytes: number
  readonly values: number
  readonly keys: number
  readonly depth: number
}

/** All that the limits of a body of so many bytes and values allow, less what is around the value. */
export const allowedRoom = (bytes: number, values: number = limits.bodyValues.value): ValueBudget => ({
  bytes: bytes - 2_048,
  values: values - 100,
  keys: limits.bodyKeys.value - 100,
  depth: limits.bodyDepth.value - 8,
})

/** As many bytes, and nothing else is respected. */
export const anyRoom = (bytes: number): ValueBudget => ({
  ...allowedRoom(bytes),
  values: Number.POSITIVE_INFINITY,
  keys: Number.POSITIVE_INFINITY,
  depth: bytes / 2,
})

/** As many parts, with commas between, as there is room for. Each is `part`, which is repeated, or made of its number. */
function filled(bytes: number, most: number, part: string | ((n: number) => string)): string {
  if (typeof part === 'string')
    return `${part},`.repeat(Math.min(most, Math.floor(bytes / (part.length + 1)))).slice(0, -1)
  let text = ''
  for (let n = 0; n < most; n++) {
    const next = part(n)
    if (text.length + next.length + 1 > bytes) break
    text += `${next},`
  }
  return text.slice(0, -1)
}

const list = ({ bytes, values }: ValueBudget, item: string | ((n: number) => string), valuesOfItem = 1): string =>
  `[${filled(bytes, Math.floor(values / valuesOfItem), item)}]`

const object = ({ bytes, values, keys }: ValueBudget, key: (n: number) => string): string =>
  `{${filled(bytes, Math.min(values, keys), (n) => `"${key(n)}":0`)}}`

const chain = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

export const shapes = {
  emptyLists: (room: ValueBudget) => list(room, '[]'),
  emptyObjects: (room: ValueBudget) => list(room, '{}'),
  numbers: (room: ValueBudget) => list(room, '7'),
  shortTexts: (room: ValueBudget) => list(room, (n) => `"${n.toString(36)}"`),
  escapes: (room: ValueBudget) => list(room, '"\\u0041\\n"'),
  longKeys: (room: ValueBudget) => object(room, (n) => String(n).padStart(limits.keyBytes.value, 'k')),
  shortKeys: (room: ValueBudget) => object(room, (n) => n.toString(36)),
  deep: (room: ValueBudget) => {
    const depth = Math.min(room.depth, room.bytes / 2 - 4)
    return list(room, chain(depth), depth)
  },
  hugeText: ({ bytes }: ValueBudget) => `"${'x'.repeat(bytes)}"`,
} as const

export type ValueShape = keyof typeof shapes
