import { ApiError } from '../errors.ts'

/** How many long answers an application may be reading at once, so that none takes all connections. */
export type StreamSlots = {
  /** Takes a slot, or 429; the function returned gives it back. */
  take(applicationId: string): () => void
  /** How many are taken, of all applications. */
  readonly taken: number
  /** For how long a reader may take nothing. */
  readonly stuckReaderMs: number
}

export function createStreamSlots(perApplication: number, stuckReaderMs: number): StreamSlots {
  const taken = new Map<string, number>()
  return {
    stuckReaderMs,
    get taken() {
      return taken.values().reduce((sum, count) => sum + count, 0)
    },
    take(applicationId) {
      const count = taken.get(applicationId) ?? 0
      if (count >= perApplication) {
        const detail = `The application is reading ${perApplication} answers at once, which is all it may.`
        throw new ApiError('busy', detail, { headers: { 'Retry-After': '1' } })
      }
      taken.set(applicationId, count + 1)
      let isGiven = false
      return () => {
        if (isGiven) return
        isGiven = true
        const left = (taken.get(applicationId) ?? 1) - 1
        if (left === 0) taken.delete(applicationId)
        else taken.set(applicationId, left)
      }
    },
  }
}
