// Spreadsheets of OpenDocument.
import { createReadStream } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SaxesParser } from 'saxes'
import { createReader } from '../engine/create-reader.ts'
import { type Reader, type ReaderOptions, ReadFault } from '../reader.ts'
import { filledSheets, readSheet, type SheetRows } from '../workbook/sheets.ts'
import type { PackedFile } from '../zip/entry.ts'
import { unpackFiles } from '../zip/zip.ts'
import { createSheetVisitor } from './sheet-visitor.ts'

/** The rows lie in memory as a whole. */
const maxContentBytes = 256 * 1024 * 1024

const parts = ['content.xml', 'META-INF/manifest.xml']

/** Every sheet that holds more than a heading is a layer, read by the rules of CSV. */
export async function openOds(packed: readonly PackedFile[], options: ReaderOptions): Promise<Reader> {
  const wanted = packed.filter(({ name }) => parts.includes(name))
  if (wanted.some(({ bytes }) => bytes > maxContentBytes))
    throw new ReadFault('zip_limit', `The spreadsheet has more than ${maxContentBytes} bytes when unpacked, the limit.`)
  const files = await unpackFiles(wanted, await mkdtemp(join(options.directory, 'ods-')), options)
  const pathOf = (part: string) => files.find(({ name }) => name === part)?.path
  await demandPlain(pathOf('META-INF/manifest.xml'))
  const chosen = filledSheets(await readSheets(pathOf('content.xml') ?? '', options.signal))
  return createReader({
    format: 'ods',
    layers: [...chosen.keys()],
    open: (layer) => readSheet(chosen.get(layer) ?? [], options, []),
    rules: options,
  })
}

/** An encrypted document is a plain archive of parts that nobody can read. */
async function demandPlain(manifest: string | undefined): Promise<void> {
  if (manifest !== undefined && (await readFile(manifest, 'latin1')).includes('encryption-data'))
    throw new ReadFault('zip_encrypted', 'The spreadsheet is protected by a password. Save it without one.')
}

async function readSheets(content: string, signal: AbortSignal): Promise<ReadonlyMap<string, SheetRows>> {
  const visitor = createSheetVisitor()
  const parser = new SaxesParser({ position: true })
  let isSpreadsheet = false
  parser.on('error', () => {
    throw new ReadFault('invalid_xml', 'The XML of the spreadsheet is not well-formed.', { line: parser.line })
  })
  parser.on('doctype', () => {
    throw new ReadFault('invalid_xml', 'XML with a document type (<!DOCTYPE …>) is not supported. Remove it.')
  })
  parser.on('opentag', ({ name, attributes }) => {
    isSpreadsheet ||= name === 'office:spreadsheet'
    visitor.onOpen(name, attributes as Record<string, string>)
  })
  parser.on('text', visitor.onText)
  parser.on('cdata', visitor.onText)
  parser.on('closetag', ({ name }) => visitor.onClose(name))
  for await (const chunk of createReadStream(content, { encoding: 'utf8', signal })) parser.write(chunk as string)
  parser.close()
  if (!isSpreadsheet)
    throw new ReadFault('unsupported_format', 'The file is a document of OpenDocument, but no spreadsheet.')
  return visitor.sheets
}
