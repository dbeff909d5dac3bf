/** The messages of a PostgreSQL server: their codes, and whether the bytes of one are what the protocol says. */
import { externalServerFault } from '../database-error.ts'

/** PostgreSQL's own limit (MaxTupleAttributeNumber). */
const maxColumns = 1_664
/** In RowDescription, behind the name of a column: table, attribute, type, size, modifier, format. */
const fieldBytes = 18

type Check = (bytes: Buffer, start: number, end: number) => void

const codeOf = (letter: string): number => letter.charCodeAt(0)

export const backendCode = {
  authentication: codeOf('R'),
  backendKeyData: codeOf('K'),
  copyInResponse: codeOf('G'),
  dataRow: codeOf('D'),
  errorResponse: codeOf('E'),
  noticeResponse: codeOf('N'),
  notification: codeOf('A'),
  parameterStatus: codeOf('S'),
  readyForQuery: codeOf('Z'),
  rowDescription: codeOf('T'),
} as const

const statuses = new Set(Array.from('ITE', codeOf))

/** What is not among them is never asked for: COPY TO, descriptions of statements, function calls. */
const checks = new Map<number, Check>([
  [backendCode.dataRow, checkDataRow],
  [backendCode.rowDescription, checkRowDescription],
  [backendCode.readyForQuery, checkReady],
  [backendCode.errorResponse, checkFields],
  [backendCode.noticeResponse, checkFields],
  [codeOf('C'), (bytes, start, end) => checkStrings(bytes, start, end, 1)],
  [backendCode.parameterStatus, (bytes, start, end) => checkStrings(bytes, start, end, 2)],
  [backendCode.notification, (bytes, start, end) => checkStrings(bytes, start + 4, end, 2)],
  [backendCode.backendKeyData, (_, start, end) => must(end - start === 8, 'a key of the wrong length')],
  [backendCode.authentication, checkAuthentication],
  [backendCode.copyInResponse, checkCopyIn],
  ...Array.from('123nIs', (letter): [number, Check] => [codeOf(letter), checkEmpty]),
])

export const isKnown = (code: number): boolean => checks.has(code)

/** Throws an external server fault when the body, from `start` to `end`, is not one of such a message. */
export const checkMessage: (code: number, ...body: Parameters<Check>) => void = (code, bytes, start, end) =>
  checks.get(code)?.(bytes, start, end)

export function must(isTrue: boolean, what: string): asserts isTrue {
  if (!isTrue) throw externalServerFault(`The database server sent ${what}.`)
}

function checkEmpty(_: Buffer, start: number, end: number): void {
  must(start === end, 'a message that is too long')
}

function checkReady(bytes: Buffer, start: number, end: number): void {
  must(end - start === 1 && statuses.has(bytes[start] as number), 'an unknown status')
}

function checkDataRow(bytes: Buffer, start: number, end: number): void {
  must(end - start >= 2, 'a row without a count')
  const count = bytes.readInt16BE(start)
  must(count >= 0 && count <= maxColumns, `a row of ${count} values`)
  let at = start + 2
  for (let index = 0; index < count; index++) {
    must(end - at >= 4, 'a row that ends too early')
    const length = bytes.readInt32BE(at)
    at += 4
    must(length >= -1 && length <= end - at, `a value of ${length} bytes`)
    if (length > 0) at += length
  }
  must(at === end, 'a row with more values than it counts')
}

function checkRowDescription(bytes: Buffer, start: number, end: number): void {
  must(end - start >= 2, 'columns without a count')
  const count = bytes.readInt16BE(start)
  must(count >= 0 && count <= maxColumns, `${count} columns`)
  let at = start + 2
  for (let index = 0; index < count; index++) at = stringEnd(bytes, at, end) + fieldBytes
  must(at === end, 'columns of the wrong length')
}

function checkCopyIn(bytes: Buffer, start: number, end: number): void {
  must(end - start >= 3, 'a COPY of the wrong length')
  const count = bytes.readInt16BE(start + 1)
  must(count >= 0 && count <= maxColumns && end - start === 3 + 2 * count, 'a COPY of the wrong length')
}

/** Fields of an error or a notice: a letter and a text each, and a zero at the end. */
function checkFields(bytes: Buffer, start: number, end: number): void {
  let at = start
  while (at < end && bytes[at] !== 0) at = stringEnd(bytes, at + 1, end)
  must(at === end - 1, 'an error that does not end')
}

function checkStrings(bytes: Buffer, start: number, end: number, count: number): void {
  let at = start
  for (let index = 0; index < count; index++) at = stringEnd(bytes, at, end)
  must(at === end, 'texts of the wrong length')
}

/** Behind the zero that ends the text. */
function stringEnd(bytes: Buffer, start: number, end: number): number {
  const zero = start < end ? bytes.indexOf(0, start) : -1
  must(zero !== -1 && zero < end, 'a text that does not end')
  return zero + 1
}

const authenticationLengths = new Map([
  [0, 4],
  [3, 4],
  [5, 8],
])
const sasl = { mechanisms: 10, continues: 11, final: 12 }

function checkAuthentication(bytes: Buffer, start: number, end: number): void {
  must(end - start >= 4, 'a login of the wrong length')
  const kind = bytes.readInt32BE(start)
  if (kind === sasl.mechanisms) {
    let at = start + 4
    while (at < end && bytes[at] !== 0) at = stringEnd(bytes, at, end)
    must(at === end - 1, 'a list of mechanisms that does not end')
    return
  }
  if (kind === sasl.continues || kind === sasl.final) return
  must(authenticationLengths.get(kind) === end - start, `a login of the unsupported kind ${kind}`)
}
