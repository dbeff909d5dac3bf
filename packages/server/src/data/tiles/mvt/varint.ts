/** Writes a protobuf varint: an unsigned integer of up to 53 bits at `at`, where there is room, and answers where it ends. */
export function putVarint(bytes: Buffer, at: number, value: number): number {
  let rest = value
  let end = at
  while (rest >= 0x10000000) {
    bytes[end++] = (rest % 128) | 128
    rest = Math.floor(rest / 128)
  }
  while (rest > 127) {
    bytes[end++] = (rest & 127) | 128
    rest >>>= 7
  }
  bytes[end++] = rest
  return end
}

/** How many bytes putVarint writes. */
export function varintSize(value: number): number {
  let size = 1
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) size++
  return size
}
