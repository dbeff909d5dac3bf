import { createReadStream, createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'

/** A `boundedBy` that goes on for longer is left as it is. */
const longestBounds = 64 * 1024
/** No tag that is looked for is longer. */
const longestTag = 1_024

const memberTag = /<(?:[\w.-]+:)?[\w.-]*[mM]embers?[\s>]/
const openTag = /<(?:[\w.-]+:)?boundedBy(?:\s[^<>]*|\/)?>/
const closeTag = /<\/(?:[\w.-]+:)?boundedBy\s*>/

/**
 * Copies GML without the `boundedBy` of its features, of which GDAL without a schema makes columns lowerCorner and upperCorner.
 * That of the collection stays: it may be the only place that names the reference system.
 */
export async function copyWithoutBounds(source: string, target: string, signal: AbortSignal): Promise<void> {
  const filter = createBoundsFilter()
  await pipeline(
    createReadStream(source, { encoding: 'latin1', highWaterMark: 256 * 1024 }),
    async function* (chunks: AsyncIterable<string>) {
      for await (const chunk of chunks) yield Buffer.from(filter.write(chunk), 'latin1')
      yield Buffer.from(filter.end(), 'latin1')
    },
    createWriteStream(target),
    { signal },
  )
}

type Filter = { rest: string; isAmongMembers: boolean }

/** Works on bytes as Latin-1, which all encodings of XML but UTF-16 share with these tags. */
export function createBoundsFilter(): { write(chunk: string): string; end(): string } {
  const filter: Filter = { rest: '', isAmongMembers: false }
  return {
    write(chunk) {
      filter.rest += chunk
      return keep(filter, false)
    },
    end: () => keep(filter, true),
  }
}

/** What is surely to be kept of the text; what may be the beginning of a tag or of bounds waits. */
function keep(filter: Filter, isEnd: boolean): string {
  const unfinished = isEnd ? 0 : longestTag
  let kept = filter.isAmongMembers ? '' : takeToMember(filter)
  for (let open = nextBounds(filter); open; open = nextBounds(filter)) {
    kept += take(filter, open.index)
    const length = boundsLength(filter.rest, open[0])
    if (length !== undefined) take(filter, length)
    else if (isEnd || filter.rest.length >= longestBounds) kept += take(filter, open[0].length)
    else return kept
  }
  return kept + take(filter, filter.rest.length - unfinished)
}

function takeToMember(filter: Filter): string {
  const member = memberTag.exec(filter.rest)
  if (!member) return ''
  filter.isAmongMembers = true
  return take(filter, member.index + member[0].length)
}

const nextBounds = ({ rest, isAmongMembers }: Filter): RegExpExecArray | null =>
  isAmongMembers ? openTag.exec(rest) : null

/** Of the bounds that the text begins with; undefined where their end is not in sight. */
function boundsLength(text: string, open: string): number | undefined {
  if (open.endsWith('/>')) return open.length
  const close = closeTag.exec(text.slice(0, longestBounds))
  return close ? close.index + close[0].length : undefined
}

function take(filter: Filter, length: number): string {
  const taken = filter.rest.slice(0, Math.max(0, length))
  filter.rest = filter.rest.slice(taken.length)
  return taken
}
