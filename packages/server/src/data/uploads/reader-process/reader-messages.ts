// The protocol between the server and a reader process.
import {
  type EncodedColumn,
  type FilePosition,
  type GdalTask,
  type LoadResult,
  type ReaderOptions,
  ReadFault,
  type ScannedLayer,
  type UploadErrorCode,
} from '../readers/reader.ts'

/** Requests, one at a time. */
export type ReaderRequest =
  | { kind: 'open'; file: string; options: FileOptions }
  | { kind: 'scan'; layer: string }
  | ({ kind: 'encode' } & RowsRequest)
  | { kind: 'guess'; layer: string }
  | ({ kind: 'load' } & RowsRequest)
  | ({ kind: 'sample'; count: number } & RowsRequest)

/** The options that can be serialized. */
export type FileOptions = Omit<ReaderOptions, 'signal' | 'onAdvance' | 'convertByGdal'>
export type ConversionRequest = Omit<GdalTask, 'signal' | 'onAdvance' | 'onStarted'>

/** Messages to the process while it opens a file. */
export type ConversionUpdate =
  /** The converting process, which the reader ends if the server dies. */
  | { kind: 'converting'; pid: number }
  /** The requested conversion has ended; `error` is not the file's fault. */
  | { kind: 'converted'; fault?: FileFault; error?: string }

export type RowsRequest = {
  layer: string
  columns: readonly EncodedColumn[]
  /** Whether there may be polygons, whose validity must be checked. */
  hasAreas: boolean
}

/** Sent after all rows: the loaded layer (for a load), and the rows whose polygons may be invalid. */
export type RowsSent = { loaded: LoadResult | undefined; doubtful: readonly number[] | undefined }

/** A row for a preview: a value for each column but the geometry, which is hexadecimal EWKB; `shortened` counts all columns. */
export type SampleRow = { values: unknown[]; geometry: string | null; shortened: number[] }

/** A tile archive has no layers to read: it is served as it is. */
export type FileSummary = { archive: 'mbtiles' | 'pmtiles' } | { format: string; layers: string[]; bytes: number }

/**
 * Answers. A fault of the file is a regular answer; only an error of the reader itself is a failure. Rows have a
 * separate pipe, each chunk prefixed with its length; a length of 0 ends a layer.
 */
export type ReaderAnswer =
  | { value: FileSummary | ScannedLayer | RowsSent | SampleRow[] | undefined }
  | { fault: FileFault }

/** A serialized ReadFault. */
export type FileFault = { code: UploadErrorCode; message: string; position: FilePosition }

export const fileFaultOf = ({ code, message, position }: ReadFault): FileFault => ({ code, message, position })
export const readFaultOf = ({ code, message, position }: FileFault): ReadFault => new ReadFault(code, message, position)

/** Messages before the answer. */
export type ReaderNotice =
  /** While a file is opened, the number only grows. `rows` are those read so far. */
  | { kind: 'progress'; fraction: number; rows?: number | undefined }
  /** While a file is opened: asks the server to start GDAL. */
  | { kind: 'convert'; task: ConversionRequest }

/** The file descriptor of the row pipe. */
export const rowsDescriptor = 3
