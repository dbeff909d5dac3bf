// Parses the JSON of one row, in which numbers that a double would round stay as they are written, as raw JSON.
import { randomUUID } from 'node:crypto'
import { inspectColumns } from '../../../api/http/input/json-body.ts'
import { keepDigits } from '../../../api/resource/documents/exact-number.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { type JsonPart, rowExpected } from './split-rows.ts'

/** The object, or a 400. */
export function parseRow(part: JsonPart): object {
  const { bytes, start, end, scanner, path } = part
  const text = bytes.toString('utf8', start, end)
  let value: unknown
  try {
    value = scanner.mayRound ? parseExact(part) : JSON.parse(text)
  } catch (error) {
    throw new ApiError('invalid_json', `The body is not valid JSON: fault in ${path}.`, { cause: error })
  }
  inspectColumns(value, path, { text, mayOverflow: scanner.mayOverflow })
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw rowExpected(path)
}

/** What stands for a list of coordinates; nobody can guess it. */
const standIn = `coordinates of ${randomUUID()}: `

/**
 * Coordinates are doubles in any case, and a reviver takes fifteen times as long (140 ms for a line of 33 000 positions), so they
 * are left out and parsed apart.
 */
function parseExact({ bytes, start, end, scanner }: JsonPart): unknown {
  const lists: string[] = []
  let text = ''
  let at = start
  for (const range of scanner.coordinates) {
    text += `${bytes.toString('utf8', at, range.start)}"${standIn}${lists.length}"`
    lists.push(bytes.toString('utf8', range.start, range.end))
    at = range.end
  }
  text += bytes.toString('utf8', at, end)
  return JSON.parse(text, (key: string, value: unknown, context?: { source?: string }) => {
    const isLeftOut = typeof value === 'string' && value.startsWith(standIn)
    return isLeftOut ? JSON.parse(lists[Number(value.slice(standIn.length))] ?? '') : keepDigits(key, value, context)
  })
}
