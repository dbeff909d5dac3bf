/**
 * The glyphs of a range of characters, as MapLibre reads them: a message whose field 1 is a stack with
 * 1 = name, 2 = range, 3 = glyph (repeated), each glyph with 1 = code point.
 */

type Field = { number: number; start: number; end: number; from: number }

const stackField = 1
const nameField = 1
const rangeField = 2
const glyphField = 3

/** One stack of several: a code point’s glyph is taken from the first that has it, byte for byte. */
export function composeStacks(name: string, range: string, stacks: readonly Buffer[]): Buffer {
  const glyphs = new Map<number, Buffer>()
  for (const bytes of stacks) {
    for (const [codePoint, glyph] of glyphsOf(bytes)) if (!glyphs.has(codePoint)) glyphs.set(codePoint, glyph)
  }
  const sorted = [...glyphs].sort(([a], [b]) => a - b).map(([, glyph]) => field(glyphField, glyph))
  const text = [field(nameField, Buffer.from(name)), field(rangeField, Buffer.from(range))]
  return field(stackField, Buffer.concat([...text, ...sorted]))
}

function* glyphsOf(bytes: Buffer): Generator<[codePoint: number, glyph: Buffer]> {
  for (const stack of fieldsOf(bytes, 0, bytes.length)) {
    if (stack.number !== stackField) continue
    for (const { number, start, end } of fieldsOf(bytes, stack.start, stack.end)) {
      if (number === glyphField) yield [codePointOf(bytes, start, end), bytes.subarray(start, end)]
    }
  }
}

function codePointOf(bytes: Buffer, start: number, end: number): number {
  for (const { number, from } of fieldsOf(bytes, start, end)) if (number === 1) return readVarint(bytes, from).value
  throw damaged()
}

/** The fields of a message. `from` is where the value of a number begins. */
function* fieldsOf(bytes: Buffer, start: number, end: number): Generator<Field> {
  let at = start
  while (at < end) {
    const key = readVarint(bytes, at)
    const number = key.value >>> 3
    const kind = key.value & 7
    if (kind === 2) {
      const length = readVarint(bytes, key.next)
      at = length.next + length.value
      if (at > end) throw damaged()
      yield { number, start: length.next, end: at, from: length.next }
    } else if (kind === 0) {
      at = readVarint(bytes, key.next).next
      yield { number, start: key.next, end: at, from: key.next }
    } else throw damaged()
  }
}

function readVarint(bytes: Buffer, at: number): { value: number; next: number } {
  let value = 0
  for (let index = 0; index < 5; index++) {
    const byte = bytes[at + index]
    if (byte === undefined) break
    value += (byte & 127) * 2 ** (7 * index)
    if (byte < 128) return { value, next: at + index + 1 }
  }
  throw damaged()
}

const damaged = (): Error => new Error('This is not a file of glyphs.')

const field = (number: number, value: Buffer): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(value.length)]), value])

function varint(number: number): number[] {
  const bytes: number[] = []
  let rest = number
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return [...bytes, rest]
}
