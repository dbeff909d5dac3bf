import { type ByteWindow, holds, type InputBytes, moveTo, openWindow } from '../engine/byte-window.ts'
import { maxFeatureBytes, ReadFault, type Warning } from '../reader.ts'
import { type Dbf, isDeleted, readDbf } from './dbf.ts'

/** The files of one shapefile, wherever they lie; the large ones may be in an archive yet. A table alone is a layer too. */
export type ShapefileParts = {
  readonly name: string
  readonly shp?: string | (() => Promise<InputBytes>)
  readonly shx?: string
  readonly dbf?: string | (() => Promise<InputBytes>)
  readonly prj?: string
  readonly cpg?: string
  /** What one of our own exports says of its columns. */
  readonly note?: string
}

/** The records of a shapefile in turn; after `advance` answered true, one is at hand. */
export type ShapefileRecords = {
  readonly shp: ByteWindow | undefined
  readonly shx: ByteWindow | undefined
  readonly dbf: Dbf | undefined
  /** What its header says, which may be wrong; the file ends at `fileSize`. */
  readonly declaredEnd: number
  readonly warnings: Warning[]
  index: number
  nextOffset: number
  /** Where the shape lies in the window of the .shp; both 0 when the record has none. */
  shapeStart: number
  shapeEnd: number
  /** Where the row lies in the window of the .dbf; -1 when there is none. */
  rowAt: number
  /** Where the next record lies, when it has to be brought into memory. */
  wanted: RecordSpan | undefined
}

/** Bytes that have to be brought into memory before the step can be taken. */
type RecordSpan = { readonly window: ByteWindow; readonly offset: number; readonly size: number }

const headerSize = 100

/** Opens the files; `opened` are the windows on them, also where that fails. */
export async function openRecords(parts: ShapefileParts, opened: ByteWindow[]): Promise<ShapefileRecords> {
  const openPart = async (file: string | (() => Promise<InputBytes>)) => {
    const window = await openWindow(file)
    opened.push(window)
    return window
  }
  const warnings: Warning[] = []
  const shp = parts.shp === undefined ? undefined : await openPart(parts.shp)
  const declaredEnd = shp ? await endInHeader(shp) : 0
  const shx = parts.shx && shp ? await soundIndex(await openPart(parts.shx), shp, declaredEnd, warnings) : undefined
  const dbf = parts.dbf === undefined ? undefined : await readDbf(await openPart(parts.dbf))
  if (dbf && dbf.presentCount < dbf.recordCount)
    warnings.push({
      code: 'short_dbf',
      message: 'The .dbf file ends too early; the rows it lacks have no attributes.',
    })
  if (shp && declaredEnd !== shp.fileSize) warnings.push(wrongLength(declaredEnd, shp.fileSize))
  const at = { index: -1, nextOffset: headerSize, shapeStart: 0, shapeEnd: 0, rowAt: -1, wanted: undefined }
  return { shp, shx, dbf, declaredEnd, warnings, ...at }
}

/** Throws a fault when an archive that a file is in is damaged, be it behind what was read. */
export async function verifyWindows(windows: readonly (ByteWindow | undefined)[]): Promise<void> {
  for (const window of windows) await window?.source.verify?.()
}

async function endInHeader(shp: ByteWindow): Promise<number> {
  if (shp.fileSize < headerSize) throw new ReadFault('truncated', 'The .shp file ends within its header.')
  await moveTo(shp, 0, headerSize)
  if (shp.view.getInt32(0) !== 9994) throw new ReadFault('wrong_format', 'The .shp file is not a Shapefile.')
  return shp.view.getInt32(24) * 2
}

/** Programs that are stopped, or that append, leave a wrong length in the header. The records tell where they end. */
const wrongLength = (declared: number, size: number): Warning => ({
  code: 'shp_length',
  message: `The header of the .shp file gives a length of ${declared} bytes, but the file has ${size}. All records in it were read.`,
})

const cutOff = (): ReadFault =>
  new ReadFault('truncated', 'The .shp file is shorter than its header says, and records are missing at its end.')

/** The index is of use only where it leads forward through the file: so it is when it is right. */
async function soundIndex(
  shx: ByteWindow,
  { fileSize: shpEnd }: ByteWindow,
  declaredEnd: number,
  warnings: Warning[],
): Promise<ByteWindow | undefined> {
  let before = 0
  let isSound = shx.fileSize >= headerSize && (shx.fileSize - headerSize) % 8 === 0
  for (let at = headerSize; isSound && at < shx.fileSize; at += 8) {
    if (!holds(shx, at, 8)) await moveTo(shx, at, 8)
    const offset = shx.view.getUint32(at - shx.start) * 2
    isSound = offset > before && offset >= headerSize
    if (isSound && offset + 8 > shpEnd && offset + 8 <= declaredEnd) throw cutOff()
    isSound &&= offset + 8 <= shpEnd
    before = offset
  }
  if (isSound) return shx
  warnings.push({ code: 'shx_ignored', message: 'The .shx file does not fit the .shp file and was not used.' })
  return undefined
}

/** Goes to the next record in memory that is not deleted; false when there is none. */
export function advance(records: ShapefileRecords): boolean {
  let step = takeStep(records)
  while (step === 'deleted') step = takeStep(records)
  if (step === 'record') return true
  records.wanted = step === 'end' ? undefined : step
  return false
}

/** Brings the next record into memory; false at the end. */
export async function bringNext({ wanted }: ShapefileRecords): Promise<boolean> {
  if (wanted) await moveTo(wanted.window, wanted.offset, wanted.size)
  return wanted !== undefined
}

function takeStep(records: ShapefileRecords): 'record' | 'deleted' | 'end' | RecordSpan {
  const { shp, dbf } = records
  const index = records.index + 1
  const shape = shp ? nextShape(records, shp, index) : undefined
  if (shape === 'end') demandShapes(records, index)
  if (shape === 'end' || (!shp && index >= (dbf?.presentCount ?? 0))) return 'end'
  if (shape && 'window' in shape) return shape
  const row = dbf && index < dbf.presentCount ? nextRow(dbf, index) : -1
  if (typeof row !== 'number') return row
  records.index = index
  records.rowAt = row
  if (shape && shp) {
    records.shapeStart = shape.offset + 8 - shp.start
    records.shapeEnd = records.shapeStart + shape.size
    records.nextOffset = shape.offset + 8 + shape.size
  }
  return dbf && row >= 0 && isDeleted(dbf, row) ? 'deleted' : 'record'
}

/** A file that is shorter than its header says must at least have a shape for each row. */
function demandShapes({ shp, dbf, declaredEnd }: ShapefileRecords, count: number): void {
  if (shp && dbf && declaredEnd > shp.fileSize && count < dbf.recordCount) throw cutOff()
}

function nextRow({ window, headerSize: start, recordSize }: Dbf, index: number): number | RecordSpan {
  const offset = start + index * recordSize
  return holds(window, offset, recordSize) ? offset - window.start : { window, offset, size: recordSize }
}

function nextShape(
  records: ShapefileRecords,
  shp: ByteWindow,
  index: number,
): 'end' | RecordSpan | { offset: number; size: number } {
  const { shx, declaredEnd } = records
  const shpEnd = shp.fileSize
  let offset = records.nextOffset
  if (shx) {
    const at = headerSize + index * 8
    if (at + 8 > shx.fileSize) return 'end'
    if (!holds(shx, at, 8)) return { window: shx, offset: at, size: 8 }
    offset = shx.view.getUint32(at - shx.start) * 2
  }
  if (offset + 8 > shpEnd) return 'end'
  if (!holds(shp, offset, 8)) return { window: shp, offset, size: 8 }
  const size = shp.view.getInt32(offset - shp.start + 4) * 2
  // Behind the end in the header are more records, or something else.
  const isBehind = !shx && declaredEnd > headerSize && offset >= declaredEnd
  const isRecord = shp.view.getInt32(offset - shp.start) === index + 1 && size > 0 && offset + 8 + size <= shpEnd
  if (isBehind && !isRecord) return 'end'
  const place = { feature: index + 1 }
  if (size < 0) throw new ReadFault('invalid_file', 'A record of the .shp file is damaged.', place)
  if (size > maxFeatureBytes)
    throw new ReadFault('feature_too_large', `A shape is larger than ${maxFeatureBytes} bytes, the limit.`, place)
  if (offset + 8 + size > shpEnd) throw new ReadFault('truncated', 'The .shp file ends within a record.', place)
  return holds(shp, offset, 8 + size) ? { offset, size } : { window: shp, offset, size: 8 + size }
}
