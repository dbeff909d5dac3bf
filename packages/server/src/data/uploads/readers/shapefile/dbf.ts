import { asterisk } from '../../../../query/geometry/encoding/character-codes.ts'
import { type ByteWindow, moveTo } from '../engine/byte-window.ts'
import { kind } from '../engine/type-inference.ts'
import { type FieldType, maxFields, ReadFault } from '../reader.ts'

/** A column of a .dbf: where in a record it stands. */
export type DbfField = {
  readonly rawName: Buffer
  readonly letter: string
  readonly offset: number
  readonly width: number
  readonly decimals: number
  /** Its bytes are no text. */
  readonly isBinary: boolean
}

export type Dbf = {
  readonly window: ByteWindow
  readonly recordCount: number
  readonly headerSize: number
  readonly recordSize: number
  readonly languageDriver: number
  readonly fields: readonly DbfField[]
  /** What is left of the file when it was cut short, in records. */
  readonly presentCount: number
}

const descriptorSize = 32
const endOfFields = 0x0d

/** Reads the header of the table. */
export async function readDbf(window: ByteWindow): Promise<Dbf> {
  if (window.fileSize < 32) throw new ReadFault('truncated', 'The .dbf file ends within its header.')
  await moveTo(window, 0, 32)
  const recordCount = window.view.getUint32(4, true)
  const headerSize = window.view.getUint16(8, true)
  const recordSize = window.view.getUint16(10, true)
  const languageDriver = window.bytes[29] ?? 0
  if (headerSize < 33 || recordSize < 1)
    throw new ReadFault('invalid_file', 'The header of the .dbf file is not valid.')
  if (headerSize > window.fileSize) throw new ReadFault('truncated', 'The .dbf file ends within its header.')
  await moveTo(window, 0, headerSize)
  const fields = readFields(window.bytes.subarray(0, headerSize), recordSize)
  const presentCount = Math.min(recordCount, Math.floor((window.fileSize - headerSize) / recordSize))
  return { window, recordCount, headerSize, recordSize, languageDriver, fields, presentCount }
}

function readFields(header: Buffer, recordSize: number): DbfField[] {
  const fields: DbfField[] = []
  let offset = 1
  for (let at = 32; at + descriptorSize <= header.length && header[at] !== endOfFields; at += descriptorSize) {
    const field = readField(header.subarray(at, at + descriptorSize), offset)
    offset += field.width
    if (offset > recordSize)
      throw new ReadFault('invalid_file', 'The columns of the .dbf file are wider than its records.')
    fields.push(field)
    if (fields.length > maxFields)
      throw new ReadFault('too_many_columns', `The table has more than ${maxFields} columns, the limit.`)
  }
  return fields
}

function readField(descriptor: Buffer, offset: number): DbfField {
  const letter = String.fromCharCode(descriptor[11] ?? 0).toUpperCase()
  const rawName = Buffer.from(descriptor.subarray(0, 11))
  const nul = rawName.indexOf(0)
  // Of text the byte for decimals is the high byte of the width.
  const size = letter === 'C' ? { width: descriptor.readUInt16LE(16), decimals: 0 } : narrowSize(descriptor)
  const isBinary = (letter === 'I' && size.width === 4) || ('OBYT'.includes(letter) && size.width === 8)
  return { rawName: nul < 0 ? rawName : rawName.subarray(0, nul), letter, offset, ...size, isBinary }
}

function narrowSize(descriptor: Buffer): { width: number; decimals: number } {
  return { width: descriptor[16] ?? 0, decimals: descriptor[17] ?? 0 }
}

export function isDeleted(dbf: Dbf, at: number): boolean {
  return dbf.window.bytes[at] === asterisk
}

/** The type of a column, whose numbers are as wide as need be. */
export function dbfFieldType({ letter, decimals }: DbfField, kinds: number): FieldType {
  if (letter === 'N') {
    if (decimals > 0 || kinds & (kind.float | kind.huge)) return 'number'
    return kinds & kind.int8 ? 'bigint' : 'integer'
  }
  return fixedTypes[letter] ?? 'text'
}

const fixedTypes: Readonly<Record<string, FieldType>> = {
  F: 'number',
  O: 'number',
  B: 'number',
  Y: 'number',
  D: 'date',
  L: 'boolean',
  I: 'integer',
  T: 'timestamp',
}
