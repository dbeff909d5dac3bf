import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { SaxesParser } from 'saxes'
import { readStart } from '../file-start.ts'
import { maxFeatureBytes, ReadFault } from '../reader.ts'
import { detectUtf16 } from '../text/utf16.ts'

/** What looks at the elements of a file; names come without their prefix. */
export type XmlVisitor<T> = {
  onOpen(name: string, attributes: Readonly<Record<string, string>>): void
  /** `text` is what stands between this tag and the one before. */
  onClose(name: string, text: string): void
  /** What was completed since it was asked last. */
  take(): T[]
  isInFeature(): boolean
}

const chunkBytes = 64 * 1024
const maxDepth = 256

/** Walks through an XML file and yields what the visitor completes. Document types and their entities are refused. */
export async function* readXml<T>(
  file: string,
  visitor: XmlVisitor<T>,
  signal: AbortSignal,
): AsyncGenerator<{ records: T[]; fraction: number }> {
  const { size } = await stat(file)
  const decoder = await decoderOf(file)
  const walk = createWalk(visitor)
  let position = 0
  let held = 0
  for await (const chunk of createReadStream(file, { highWaterMark: chunkBytes, signal }) as AsyncIterable<Buffer>) {
    const before = walk.events()
    walk.write(decode(decoder, chunk))
    const records = visitor.take()
    position += chunk.length
    const isMoving = records.length > 0 || (!visitor.isInFeature() && walk.events() !== before)
    held = isMoving ? 0 : held + chunk.length
    if (held > maxFeatureBytes)
      throw new ReadFault('feature_too_large', `A feature is larger than ${maxFeatureBytes} bytes, the limit.`)
    yield { records, fraction: position / size }
  }
  walk.end(decode(decoder))
  yield { records: visitor.take(), fraction: 1 }
}

function decode(decoder: Decoder, chunk?: Buffer): string {
  try {
    return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode()
  } catch (error) {
    throw new ReadFault('unsupported_encoding', `The text is not valid ${decoder.encoding}.`, {}, error)
  }
}

/** By the bytes of UTF-16, else by what the file declares. */
async function decoderOf(file: string): Promise<Decoder> {
  const start = await readStart(file, 256)
  const declared = /^[^<]*<\?xml[^>]*encoding=["']([\w.:-]+)["']/.exec(start.toString('latin1'))?.[1]
  const label = detectUtf16(start) ?? declared ?? 'utf-8'
  try {
    return new TextDecoder(label, { fatal: true })
  } catch (error) {
    throw new ReadFault('unsupported_encoding', 'The encoding that the XML declares is not known.', {}, error)
  }
}

type Decoder = InstanceType<typeof TextDecoder>

type Walk = { write(text: string): void; end(text: string): void; events(): number }

function createWalk<T>(visitor: XmlVisitor<T>): Walk {
  const parser = new SaxesParser({ position: true })
  let depth = 0
  let events = 0
  let text = ''
  let isEnding = false
  const refuse = (message: string): never => {
    throw new ReadFault(isEnding ? 'truncated' : 'invalid_xml', message, { line: parser.line })
  }
  parser.on('error', () => refuse(isEnding ? 'The file ends in the middle of the XML.' : 'The XML is not well-formed.'))
  parser.on('doctype', () => refuse('XML with a document type (<!DOCTYPE …>) is not supported. Remove it.'))
  parser.on('opentag', ({ name, attributes }) => {
    events++
    text = ''
    if (++depth > maxDepth) refuse(`The XML is nested deeper than ${maxDepth}.`)
    visitor.onOpen(localName(name), attributes as Record<string, string>)
  })
  const addText = (more: string) => {
    text += more
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', ({ name }) => {
    depth--
    visitor.onClose(localName(name), text)
    text = ''
  })
  return {
    write: (more) => void parser.write(more),
    end: (last) => {
      parser.write(last)
      isEnding = true
      parser.close()
    },
    events: () => events,
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
