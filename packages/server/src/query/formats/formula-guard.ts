// Text that a spreadsheet would take for a formula gets an apostrophe before it, and so does text that would look so guarded: taking
// one apostrophe off restores every text.

const guardable = /^'*[\s\u00a0]*[=+\-@\t\r\n]/
const guarded = /^'+[\s\u00a0]*[=+\-@\t\r\n]/

export const guardFormula = (text: string): string => (guardable.test(text) ? `'${text}` : text)

const isGuarded = (text: string): boolean => text.startsWith("'") && guarded.test(text)

export const withoutGuard = (text: string): string => (isGuarded(text) ? text.slice(1) : text)

/** A formula without an apostrophe, or a text between two, shows that apostrophes mean something else. */
const unguarded = /^\s*[=+@]|^'.*'$/s

export type GuardedColumns = {
  /** Looks at a cell of text. */
  note(place: number, cell: string): void
  /** Whether the apostrophes of a column are guards, as far as its cells were looked at. */
  isGuarded(place: number): boolean
}

/** Tells columns of text that are guarded, as our own exports are, from those whose apostrophes are a part of the text. */
export function findGuardedColumns(count: number): GuardedColumns {
  const hasGuards = new Uint8Array(count)
  const hasOthers = new Uint8Array(count)
  return {
    note(place, cell) {
      if (unguarded.test(cell)) hasOthers[place] = 1
      else if (isGuarded(cell)) hasGuards[place] = 1
    },
    isGuarded: (place) => hasGuards[place] === 1 && hasOthers[place] === 0,
  }
}
