import { type NotedColumn, parseNote, type TableNote } from '../../../../query/formats/table-note.ts'
import { type ByteWindow, moveTo } from '../engine/byte-window.ts'
import { maxFields, ReadFault } from '../reader.ts'
import {
  byteField,
  damagedBuffer,
  type FlatbufferTable,
  fieldAt,
  rootTable,
  stringField,
  tableField,
  tableOfVector,
  vectorField,
} from './flatbuffer.ts'

export type FlatColumn = { readonly name: string; readonly type: number; readonly noted?: NotedColumn | undefined }

export type FlatHeader = {
  readonly name: string | undefined
  /** 0 when every feature says its own. */
  readonly geometryType: number
  readonly columns: readonly FlatColumn[]
  readonly srid?: number
  readonly wkt?: string
  readonly featuresAt: number
  /** 0 when it is not said. */
  readonly featureCount: number
  /** What one of our own exports says of its columns. */
  readonly note: TableNote | undefined
}

const magicSize = 8
const maxHeaderBytes = 16 * 1024 * 1024
const indexNodeBytes = 40
const metadataField = 13

export async function readFlatHeader(window: ByteWindow): Promise<FlatHeader> {
  await moveTo(window, 0, magicSize + 4)
  if (window.bytes.toString('latin1', 0, 3) !== 'fgb' || window.bytes[3] !== 3)
    throw new ReadFault('wrong_format', 'The file is not FlatGeobuf of version 3, the only version that is supported.')
  const size = window.view.getUint32(magicSize, true)
  if (size > maxHeaderBytes) throw damagedBuffer()
  await moveTo(window, 0, magicSize + 4 + size)
  const header = rootTable(window.view, magicSize + 4, magicSize + 4 + size)
  const featureCount = countOf(header)
  const featuresAt = magicSize + 4 + size + indexBytes(featureCount, nodeSize(header))
  if (featuresAt > window.fileSize) throw new ReadFault('truncated', 'The file ends too early.')
  const note = parseNote(stringField(header, metadataField))
  return {
    name: stringField(header, 0),
    geometryType: byteField(header, 2),
    columns: columnsOf(header, note),
    note,
    ...referenceOf(header),
    featuresAt,
    featureCount,
  }
}

function countOf(header: FlatbufferTable): number {
  const at = fieldAt(header, 8, 8)
  return at === 0 ? 0 : Number(header.view.getBigUint64(at, true))
}

function nodeSize(header: FlatbufferTable): number {
  const at = fieldAt(header, 9, 2)
  return at === 0 ? 16 : header.view.getUint16(at, true)
}

/** The packed tree of boxes before the features, which is passed over. */
function indexBytes(count: number, size: number): number {
  if (count === 0 || size === 0) return 0
  if (size === 1) throw damagedBuffer()
  let nodes = count
  for (let level = count; level > 1; ) {
    level = Math.ceil(level / size)
    nodes += level
  }
  // A tree of one feature has a root nevertheless.
  return (count === 1 ? 2 : nodes) * indexNodeBytes
}

function columnsOf(header: FlatbufferTable, note: TableNote | undefined): FlatColumn[] {
  const noted = new Map(note?.columns.map((column) => [column.name, column]))
  const vector = vectorField(header, 7, 4)
  if (vector.length > maxFields)
    throw new ReadFault('too_many_columns', `The table has more than ${maxFields} columns, the limit.`)
  return Array.from({ length: vector.length }, (_, element) => {
    const column = tableOfVector(header, vector, element)
    const name = stringField(column, 0) ?? `column ${element + 1}`
    return { name, type: byteField(column, 1), noted: noted.get(name) }
  })
}

function referenceOf(header: FlatbufferTable): { srid?: number; wkt?: string } {
  const crs = tableField(header, 10)
  if (!crs) return {}
  const codeAt = fieldAt(crs, 1, 4)
  const code = codeAt === 0 ? 0 : crs.view.getInt32(codeAt, true)
  const organisation = stringField(crs, 0) ?? 'EPSG'
  if (organisation.toUpperCase() === 'EPSG' && code > 0 && code < 1_000_000) return { srid: code }
  const wkt = stringField(crs, 4)
  return wkt && wkt.length < 100_000 ? { wkt } : {}
}
