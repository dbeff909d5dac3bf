/** Which files are looked at before they are imported, and what of them is in doubt. */
import type { UploadPreview } from '@graticule/client'

/** Formats that leave open how they are to be read. The others say it themselves. */
const openFormats = /\.(csv|tsv|tab|txt|xlsx|ods|json|zip)$/i
const textTables = /\.(csv|tsv|tab|txt)$/i
/** A preview sends the file a second time. */
const wholeBytes = 8 * 1024 ** 2
const beginningBytes = 1024 ** 2

/** What is sent for the preview of a file: all of a small one, the first lines of a large text; null if it is imported unseen. */
export async function previewedPart(file: File): Promise<Blob | null> {
  if (!openFormats.test(file.name)) return null
  if (file.size <= wholeBytes) return file
  if (!textTables.test(file.name)) return null
  const bytes = new Uint8Array(await file.slice(0, beginningBytes).arrayBuffer())
  // In UTF-16 a line does not end at one byte.
  if (bytes.includes(0)) return null
  return file.slice(0, bytes.lastIndexOf(lineFeed) + 1)
}

const lineFeed = 10

/** Warnings that a choice of the user can answer, and the options that do. */
export type Choice = 'geometry' | 'sourceSrid' | 'encoding' | 'values'

const choices: Readonly<Record<string, Choice>> = {
  coordinate_order: 'geometry',
  coordinates_assumed: 'geometry',
  box_assumed: 'geometry',
  geometry_not_found: 'geometry',
  geometry_columns_ignored: 'geometry',
  srid_assumed: 'sourceSrid',
  srid_required: 'sourceSrid',
  srid_unknown: 'sourceSrid',
  encoding_assumed: 'encoding',
  encoding_mismatch: 'encoding',
  ambiguous_values: 'values',
}

const choiceOf = (code: string | undefined): Choice | undefined => choices[code ?? '']

export const warningsOf = ({ layers }: UploadPreview) => layers.flatMap(({ warnings }) => warnings)

/** Something was assumed that the user may know better, or it would fail for what the user can say. */
export const isDoubtful = (preview: UploadPreview): boolean =>
  choiceOf(preview.error.code) !== undefined || warningsOf(preview).some(({ code }) => choiceOf(code) !== undefined)

/** The choices that a file asks for, in the order of its warnings. */
export function choicesOf(preview: UploadPreview): Choice[] {
  const codes = [preview.error.code, ...warningsOf(preview).map(({ code }) => code)]
  return [...new Set(codes.map(choiceOf).filter((choice) => choice !== undefined))]
}
