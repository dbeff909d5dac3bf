/** The same random numbers each time. */
export function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return (state >>> 8) % below
  }
}

/** A file with a few bytes changed, or cut short, or with a number set to an extreme. */
export function mutate(bytes: Buffer, random: (below: number) => number): Buffer {
  const kind = random(4)
  const mutated = Buffer.from(kind === 0 ? bytes.subarray(0, random(bytes.length)) : bytes)
  if (mutated.length < 8) return mutated
  for (let change = random(3); change >= 0; change--) {
    const at = random(mutated.length - 4)
    if (kind === 1) mutated.writeInt32LE([-1, 0x7fffffff, -0x80000000, 0][random(4)] ?? 0, at)
    else mutated[at] = random(256)
  }
  return mutated
}
