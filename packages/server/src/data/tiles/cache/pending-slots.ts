// How many tiles an application may wait for.
import type { ApiError } from '../../../kernel/errors.ts'
import { overLimit } from '../../../kernel/limits/limits.ts'

/** Told of each tile, for the usage of applications. */
export type TileUse = {
  served(applicationId: string, isCached: boolean): void
  made(applicationId: string, seconds: number): void
}

/** Limits one application to half the capacity, so that the others' maps keep working. */
export function createPendingSlots(capacity: number, use: TileUse | undefined) {
  const most = Math.ceil(capacity / 2)
  const pendingByOwner = new Map<string, number>()
  /** Undefined if the owner has as many as it may; otherwise what gives the slot back. */
  function tryEnter(owner: string): (() => void) | undefined {
    const others = pendingByOwner.get(owner) ?? 0
    if (others >= most) return undefined
    pendingByOwner.set(owner, others + 1)
    const begun = performance.now()
    return () => {
      use?.made(owner, (performance.now() - begun) / 1000)
      const left = (pendingByOwner.get(owner) ?? 1) - 1
      if (left === 0) pendingByOwner.delete(owner)
      else pendingByOwner.set(owner, left)
    }
  }
  return {
    tryEnter,
    async within<T>(owner: string, work: () => Promise<T>): Promise<T> {
      const leave = tryEnter(owner)
      if (!leave) throw tooManyTiles(most)
      return work().finally(leave)
    },
  }
}

const tooManyTiles = (most: number): ApiError =>
  overLimit(
    'tilesAtOnce',
    most,
    `This application already waits for ${most} tiles, its limit. Try again in a second.`,
    {
      headers: { 'Retry-After': '1' },
    },
  )
