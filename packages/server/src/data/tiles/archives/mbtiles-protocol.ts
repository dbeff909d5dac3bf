// The messages between the server and an MBTiles reader process.

/** `version` distinguishes a file from an earlier one with the same name. */
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

/** The stored metadata, and what had to be derived from the tiles. */
export type MbtilesSummary = {
  readonly metadata: Readonly<Record<string, string>>
  readonly zooms: readonly number[]
  /** Columns and rows (counted from the south) of all tiles of one zoom level. */
  readonly extent: { z: number; columns: [number, number]; rows: [number, number] } | undefined
  readonly sample: Uint8Array | undefined
}
