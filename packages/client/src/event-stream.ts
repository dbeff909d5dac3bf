/** An event of a stream of Server-Sent Events. */
export interface StreamedEvent {
  readonly event: string
  readonly data: string
}

/** Lines end with LF, CRLF or CR; a CR at the end of a piece may be half of a CRLF, so it waits for the next. */
const lineEnd = /\r\n|\n|\r(?!$)/

/** The events of a stream while its text arrives (WHATWG HTML, 9.2). Comments carry nothing; ids are not used. */
export async function* readEvents(pieces: AsyncIterable<string>): AsyncGenerator<StreamedEvent, void> {
  let rest = ''
  let fields: Field[] = []
  for await (const piece of pieces) {
    const lines = (rest + piece).split(lineEnd)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line !== '') fields.push(fieldOf(line))
      else {
        yield* eventOf(fields)
        fields = []
      }
    }
  }
}

type Field = readonly [name: string, value: string]

function fieldOf(line: string): Field {
  const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
  return [name, value]
}

/** The event that a group of lines is; none when there is nothing in it. */
function* eventOf(fields: readonly Field[]): Generator<StreamedEvent, void> {
  const data = fields.filter(([name]) => name === 'data').map(([, value]) => value)
  const event = fields.findLast(([name]) => name === 'event')?.[1] || 'message'
  if (data.length > 0) yield { event, data: data.join('\n') }
}
