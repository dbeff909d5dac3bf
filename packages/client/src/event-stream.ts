// A parser for Server-Sent Events.

/** One event of the stream. */
export interface StreamedEvent {
  readonly event: string
  readonly data: string
}

/** Lines end with LF, CRLF or CR. A CR at the end of a chunk may be half of a CRLF, so it waits for the next chunk. */
const lineEnd = /\r\n|\n|\r(?!$)/

/** Yields events while the text arrives (WHATWG HTML, 9.2). `onId` is told of ids, also of those without an event. */
export async function* readEvents(
  pieces: AsyncIterable<string>,
  onId?: (id: string) => void,
): AsyncGenerator<StreamedEvent, void> {
  let rest = ''
  let fields: Field[] = []
  for await (const piece of pieces) {
    const lines = (rest + piece).split(lineEnd)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line !== '') fields.push(fieldOf(line))
      else {
        const id = fields.findLast(([name]) => name === 'id')?.[1]
        if (id !== undefined) onId?.(id)
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

/** The event of a group of lines, if it has any data. */
function* eventOf(fields: readonly Field[]): Generator<StreamedEvent, void> {
  const data = fields.filter(([name]) => name === 'data').map(([, value]) => value)
  const event = fields.findLast(([name]) => name === 'event')?.[1] || 'message'
  if (data.length > 0) yield { event, data: data.join('\n') }
}
