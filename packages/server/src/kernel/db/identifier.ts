// Identifiers of PostgreSQL: at most 63 bytes of UTF-8. A longer one is cut by the database without an error, so that two names
// become one and a name is not the one that was asked for. Letters are no measure: a letter has up to four bytes.

export const maxIdentifierBytes = 63

export const fitsIdentifier = (name: string): boolean => Buffer.byteLength(name) <= maxIdentifierBytes

/** Cuts a name to a number of bytes, at the boundary of a character. */
export function cutIdentifier(name: string, bytes = maxIdentifierBytes): string {
  let length = 0
  let end = 0
  for (const character of name) {
    length += Buffer.byteLength(character)
    if (length > bytes) return name.slice(0, end)
    end += character.length
  }
  return name
}
