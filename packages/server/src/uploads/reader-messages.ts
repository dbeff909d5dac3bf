import type {
  EncodedColumn,
  FaultPlace,
  GdalTask,
  Loaded,
  OpenOptions,
  ScannedLayer,
  UploadErrorCode,
} from './readers/reader.ts'

/** What the process that reads a file is asked, one thing at a time. */
export type ReaderRequest =
  | { kind: 'open'; file: string; options: FileOptions }
  | { kind: 'scan'; layer: string }
  | ({ kind: 'encode' } & RowsWanted)
  | { kind: 'guess'; layer: string }
  | ({ kind: 'load' } & RowsWanted)

/** What can be told from one process to another. */
export type FileOptions = Omit<OpenOptions, 'signal' | 'onAdvance' | 'convertByGdal'>
export type ConversionWanted = Omit<GdalTask, 'signal' | 'onAdvance' | 'onStarted'>

/** The answer to a conversion that the process has asked for. */
export type Converted = {
  kind: 'converted'
  fault?: { code: UploadErrorCode; message: string }
  /** What is no fault of the file. */
  error?: string
}
/** The process that converts: should the server die, the reader ends it. */
export type Converting = { kind: 'converting'; pid: number }

export type RowsWanted = {
  layer: string
  columns: readonly EncodedColumn[]
  /** Whether there may be areas, which are to be looked at. */
  hasAreas: boolean
}

/** What is known when all rows are sent: of a load what was loaded, and which rows may have an area that is not valid. */
export type RowsSent = { loaded: Loaded | undefined; doubtful: readonly number[] | undefined }

/** A tile archive has no layers to read: it is served as it is. */
export type Opened = { archive: 'mbtiles' | 'pmtiles' } | { format: string; layers: string[] }

/** What it answers. Rows come by a pipe of their own, each chunk behind its length; a length of 0 ends a layer. */
export type ReaderReply =
  /** While a file is opened, the number only grows. */
  | { kind: 'progress'; fraction: number }
  /** While a file is opened: GDAL is the server's to start. */
  | { kind: 'convert'; task: ConversionWanted }
  | { kind: 'done'; value: Opened | ScannedLayer | RowsSent | undefined }
  | { kind: 'fault'; code: UploadErrorCode; message: string; place: FaultPlace }
  | { kind: 'error'; message: string }

/** The descriptor of the pipe for rows. */
export const rowsDescriptor = 3
