/** Character codes of ASCII, for readers that work on bytes. */
export const tab = 0x09
export const lineFeed = 0x0a
export const carriageReturn = 0x0d
export const recordSeparator = 0x1e
export const space = 0x20
export const quote = 0x22
export const openParenthesis = 0x28
export const closeParenthesis = 0x29
export const asterisk = 0x2a
export const plus = 0x2b
export const comma = 0x2c
export const minus = 0x2d
export const period = 0x2e
export const slash = 0x2f
export const zero = 0x30
export const nine = 0x39
export const colon = 0x3a
export const upperG = 0x47
export const upperP = 0x50
export const upperZ = 0x5a
export const openBracket = 0x5b
export const backslash = 0x5c
export const closeBracket = 0x5d
export const lowerA = 0x61
export const lowerE = 0x65
export const lowerF = 0x66
export const lowerN = 0x6e
export const lowerT = 0x74
export const lowerU = 0x75
export const openBrace = 0x7b
export const closeBrace = 0x7d
/** The first code that is not ASCII. */
export const asciiEnd = 0x80
/** Set in a letter, it makes that a small one. */
export const lowerCaseBit = 0x20
