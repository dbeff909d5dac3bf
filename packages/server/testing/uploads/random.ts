export type Random = () => number

/** The same numbers in every run: a failure can be seen again. */
export function createRandom(seed: number): Random {
  let state = seed
  return () => {
    state = (Math.imul(state ^ (state >>> 15), state | 1) + 0x6d2b79f5) | 0
    const mixed = Math.imul(state ^ (state >>> 14), 0x2545f491)
    return ((mixed ^ (mixed >>> 13)) >>> 0) / 4294967296
  }
}

export const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)] as T

/** Numbers as files write them, the awkward ones among them. */
export const smallIntegers = ['0', '-0', '7', '-12', '123456789', '-987654321']
export const integers = [...smallIntegers, '1234567890', '2147483648', '9007199254740993']
export const hugeIntegers = ['9223372036854775807', '9223372036854775808', `1${'0'.repeat(40)}`]
export const decimals = [
  '0.1',
  '-0.0',
  '1.50',
  '-179.9823575',
  '3.141592653589793',
  '17.12345678901234567',
  '0.1234567890123456789012345',
]
