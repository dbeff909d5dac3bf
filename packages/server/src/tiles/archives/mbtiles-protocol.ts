/** `version` tells a file from the one that had its name before. */
export type MbtilesFile = { readonly path: string; readonly version: string }

export type MbtilesCommand =
  | {
      readonly kind: 'tile'
      readonly file: MbtilesFile
      readonly z: number
      readonly column: number
      readonly row: number
    }
  | { readonly kind: 'summary'; readonly file: MbtilesFile }
  | { readonly kind: 'close'; readonly file: MbtilesFile }

/** What is stored about the tiles, and what had to be found out by looking at them. */
export type MbtilesSummary = {
  readonly metadata: Readonly<Record<string, string>>
  readonly zooms: readonly number[]
  /** Columns and rows (from the south) of all tiles of a zoom level. */
  readonly extent: { z: number; columns: [number, number]; rows: [number, number] } | undefined
  readonly sample: Uint8Array | undefined
}

export type MbtilesReply =
  | { readonly outcome: Uint8Array | MbtilesSummary | undefined }
  /** What SQLite said. */
  | { readonly fault: string }

/** The first message of the process. */
export const ready = 'ready'
