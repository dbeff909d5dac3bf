/** Begins work whose code is loaded first. */

/** Returns a function that ends the work, whether it has begun or not. `begin` returns what ends it. */
export function beginLater(
  load: Promise<() => (() => void) | undefined>,
  failed: (error: unknown) => void,
): () => void {
  let end: (() => void) | undefined
  let isEnded = false
  load
    .then((begin) => {
      if (!isEnded) end = begin()
    })
    .catch(failed)
  return () => {
    isEnded = true
    end?.()
  }
}
