// Text that a spreadsheet would take for a formula gets an apostrophe before it, and so does text that would look so guarded: taking
// one apostrophe off restores every text.

const guardable = /^'*[\s\u00a0]*[=+\-@\t\r\n]/
const guarded = /^'+[\s\u00a0]*[=+\-@\t\r\n]/

export const guardFormula = (text: string): string => (guardable.test(text) ? `'${text}` : text)

export const isGuarded = (text: string): boolean => text.startsWith("'") && guarded.test(text)

export const withoutGuard = (text: string): string => (isGuarded(text) ? text.slice(1) : text)
