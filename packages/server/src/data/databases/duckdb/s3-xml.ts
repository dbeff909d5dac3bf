// A streaming reader of the XML that S3 answers with: bounded in bytes and depth, without document types and entities.
import { SaxesParser } from 'saxes'
import { bounded } from './remote-source.ts'

const maxDepth = 32

/** The texts of the elements with these paths, such as `Error/Code`, in their order. Throws for anything that is no XML. */
export async function readTexts(
  body: AsyncIterable<Buffer>,
  paths: ReadonlySet<string>,
  maxBytes: number,
): Promise<{ readonly path: string; readonly text: string }[]> {
  const parser = new SaxesParser()
  const leaves: { path: string; text: string }[] = []
  const names: string[] = []
  let text = ''
  const refuse = (): never => {
    throw new Error('The answer is not the XML of an S3 server.')
  }
  parser.on('error', refuse)
  parser.on('doctype', refuse)
  parser.on('opentag', ({ name }) => {
    if (names.push(name.slice(name.indexOf(':') + 1)) > maxDepth) refuse()
    text = ''
  })
  const append = (more: string): void => {
    text += more
  }
  parser.on('text', append)
  parser.on('cdata', append)
  parser.on('closetag', () => {
    const path = names.join('/')
    if (paths.has(path)) leaves.push({ path, text })
    names.pop()
    text = ''
  })
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for await (const chunk of bounded(body, maxBytes)) parser.write(decoder.decode(chunk, { stream: true }))
  parser.write(decoder.decode())
  parser.close()
  return leaves
}
