/** Undo and redo history: past states, the present one, and undone ones. */
export interface History<State> {
  readonly past: readonly State[]
  readonly present: State
  readonly future: readonly State[]
  /** The subject and time of the last change, to merge consecutive changes of one control. */
  readonly last: { of: string; at: number } | null
}

const longest = 200
const mergeMs = 1_000

export const beginHistory = <State>(present: State): History<State> => ({ past: [], present, future: [], last: null })

/** Quick consecutive changes with the same `of` are merged. */
export function changed<State>(
  { past, present, last }: History<State>,
  next: State,
  of: string | null = null,
  at: number = Date.now(),
): History<State> {
  const isSameStep = of !== null && last?.of === of && at - last.at < mergeMs
  return {
    past: isSameStep ? past : [...past, present].slice(-longest),
    present: next,
    future: [],
    last: of === null ? null : { of, at },
  }
}

export function undone<State>(history: History<State>): History<State> {
  const previous = history.past.at(-1)
  if (previous === undefined) return history
  return {
    past: history.past.slice(0, -1),
    present: previous,
    future: [history.present, ...history.future],
    last: null,
  }
}

export function redone<State>(history: History<State>): History<State> {
  const [next, ...future] = history.future
  if (next === undefined) return history
  return { past: [...history.past, history.present], present: next, future, last: null }
}
