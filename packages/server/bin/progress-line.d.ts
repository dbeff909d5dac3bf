type ProgressOptions = {
  stream?: NodeJS.WriteStream
  detail?: () => string
  /** Leaves no line behind, and says nothing where there is no terminal. */
  isBrief?: boolean
}

export function startProgress(title: string, options?: ProgressOptions): () => void
