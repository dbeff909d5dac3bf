import type { EncodedColumn, FaultPlace, Loaded, OpenOptions, ScannedLayer, UploadErrorCode } from './readers/reader.ts'

/** What the process that reads a file is asked, one thing at a time. */
export type ReaderRequest =
  | { kind: 'open'; file: string; options: Omit<OpenOptions, 'signal'> }
  | { kind: 'scan'; layer: string }
  | { kind: 'encode'; layer: string; columns: readonly EncodedColumn[] }
  | { kind: 'guess'; layer: string }
  | { kind: 'load'; layer: string; columns: readonly EncodedColumn[] }

/** A tile archive has no layers to read: it is served as it is. */
export type Opened = { archive: 'mbtiles' | 'pmtiles' } | { format: string; layers: string[] }

/** What it answers. Rows come by a pipe of their own, each chunk behind its length; a length of 0 ends a layer. */
export type ReaderReply =
  | { kind: 'progress'; fraction: number }
  | { kind: 'done'; value: Opened | ScannedLayer | Loaded | undefined }
  | { kind: 'fault'; code: UploadErrorCode; message: string; place: FaultPlace }
  | { kind: 'error'; message: string }

/** The descriptor of the pipe for rows. */
export const rowsDescriptor = 3
