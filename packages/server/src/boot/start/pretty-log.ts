/**
 * Lines of the log for people at a terminal: `12:03:04 GET /api/v1/styles 200 3.1 ms`. They are made of the JSON lines
 * that would be written otherwise, after those were masked.
 */

const levels = new Map([
  [10, 'trace'],
  [20, 'debug'],
  [40, 'warn'],
  [50, 'error'],
  [60, 'fatal'],
])
const dim = (text: string) => `\u001b[2m${text}\u001b[22m`
const bold = (text: string) => `\u001b[1m${text}\u001b[22m`
const red = (text: string) => `\u001b[31m${text}\u001b[39m`
const errorLevel = 50

type LogError = { type?: string; message?: string; stack?: string }
type LogRecord = Record<string, unknown> & { level: number; time: string; msg?: string }

/** The same for people, ending in a line feed. A line that is no record stays as it is. */
export function prettyLine(line: string): string {
  const record = readRecord(line)
  if (!record) return line
  const { level, time, msg, err, ...fields } = record
  const clock = new Date(time).toTimeString().slice(0, 8)
  const name = levels.get(level)
  const label = name === undefined ? [] : [level >= errorLevel ? red(name) : bold(name)]
  const message = msg === 'request' ? requestText(fields) : [printable(msg ?? ''), fieldsText(fields)]
  const text = [dim(clock), ...label, ...message].filter((part) => part !== '').join(' ')
  return `${text}\n${errorText(err as LogError | undefined)}`
}

function readRecord(line: string): LogRecord | undefined {
  try {
    const record = JSON.parse(line)
    return typeof record.level === 'number' && typeof record.time === 'string' ? record : undefined
  } catch {
    return undefined
  }
}

function requestText({ method, path, status, ms, requestId, ...rest }: Record<string, unknown>): string[] {
  const outcome = Number(status) >= 500 ? red(String(status)) : String(status)
  return [printable(method), printable(path ?? '(unknown path)'), outcome, dim(`${ms} ms`), fieldsText(rest)]
}

function fieldsText(fields: Record<string, unknown>): string {
  const text = Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
  return text === '' ? '' : dim(printable(text))
}

function errorText(error: LogError | undefined): string {
  const text = error?.stack ?? error?.message
  return text === undefined
    ? ''
    : `${text
        .split('\n')
        .map(printable)
        .map((line) => `  ${line}`)
        .join('\n')}\n`
}

const escaped = (character: string): string => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`

/** Without what a terminal would obey: a client may have written it. */
function printable(value: unknown): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return String(value).replace(/[\u0000-\u001f\u007f-\u009f]/g, escaped)
}
