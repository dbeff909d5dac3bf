import { DuckdbFault, type FaultCode } from '../fault.ts'

/** DuckDB's errors as faults, in its own words, without the server's paths. */

/** An error after which nothing of this process is to be trusted. */
export const isFatal = (error: unknown): boolean => /^(FATAL|INTERNAL) Error/.test(messageOf(error))

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const codes: readonly (readonly [RegExp, FaultCode])[] = [
  [/^(FATAL|INTERNAL) Error/, 'ended'],
  [/^(Out of Memory Error|Failed to allocate memory|std::bad_alloc)/, 'memory'],
  [/^(Parser|Binder|Catalog|Syntax|Not implemented|Permission|Parameter Not Resolved) Error/i, 'refused'],
]

const maxLength = 500

/** `hidden`: folders whose paths are not for the reader. */
export function faultOf(error: unknown, hidden: readonly string[]): DuckdbFault {
  if (error instanceof DuckdbFault) return error
  const message = messageOf(error)
  const code = codes.find(([pattern]) => pattern.test(message))?.[1] ?? 'failed'
  if (code === 'ended') return new DuckdbFault(code, 'DuckDB failed on this query or file, and its process was ended.')
  if (code === 'memory') {
    return new DuckdbFault(
      code,
      'The query needs more memory than it may have. Read fewer rows or columns, or sort less.',
    )
  }
  return new DuckdbFault(code, withoutPaths(withoutExcerpt(message), hidden))
}

/** What follows are lines of the statement that DuckDB was given, which is not the one that somebody wrote. */
const withoutExcerpt = (message: string): string => message.replace(/\n\s*\nLINE \d+:[\s\S]*$/, '').slice(0, maxLength)

export function withoutPaths(text: string, hidden: readonly string[]): string {
  let plain = text
  for (const directory of hidden) plain = plain.replaceAll(`${directory}/`, '').replaceAll(directory, 'the folder')
  return plain
}
