/** A file of the operator's own that is replaced is noticed after so long; archives of uploads never change. */
const trustMs = 60_000

/** Throttles the question whether a stored file has changed: asking costs a request to the storage. */
export function createStaleCheck(isChanged: () => Promise<boolean>): () => Promise<boolean> {
  let checkedAt = performance.now()
  return async () => {
    if (performance.now() - checkedAt < trustMs) return false
    checkedAt = performance.now()
    return isChanged()
  }
}
