/** An upload job: a file that is being sent, processed by the server, or finished. */
import type { Upload, UploadOptions, UploadPreview } from '@graticule/client'
import type { RateSample } from './rate.ts'

/**
 * `checking`: a preview is asked for. `doubtful`: it can be read in several ways, so the user is asked. `unwatched`: the server has
 * the file, but the key may not read its status.
 */
export type UploadPhase =
  | 'checking'
  | 'doubtful'
  | 'waiting'
  | 'sending'
  | 'processing'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'unwatched'

export interface UploadJob {
  readonly key: string
  readonly fileName: string
  readonly size: number
  /** Null if it was sent by another page or before this one was loaded. */
  readonly file: File | null
  readonly options: UploadOptions
  readonly phase: UploadPhase
  /** What it would make is known, or the user has said how it is read. */
  readonly isChecked: boolean
  readonly preview: UploadPreview | null
  /** Not sent while its options are edited. */
  readonly isHeld: boolean
  /** Bytes while it is sent, then the server's progress. */
  readonly samples: readonly RateSample[]
  /** The server's record, once it exists. */
  readonly upload: Upload | null
  /** An error that is not in the record. */
  readonly error: unknown
}

const unsent: readonly UploadPhase[] = ['waiting', 'checking', 'doubtful', 'sending']

export const isEnded = ({ phase }: UploadJob): boolean => phase !== 'processing' && !unsent.includes(phase)

/** Done, with nothing left to tell. */
export const isSettled = ({ phase, upload }: UploadJob): boolean =>
  phase === 'completed' && upload !== null && upload.warnings.length === 0 && !hasOverviewsToCome(upload)

/** Whether closing the page would lose it. */
export const isUnsent = ({ phase }: UploadJob): boolean => unsent.includes(phase)

/** Overviews follow `completed`: the data can be used meanwhile. */
export const hasOverviewsToCome = ({ status, overviews }: Upload): boolean =>
  status === 'completed' && (overviews?.status === 'pending' || overviews?.status === 'building')

/** What a user sees of the server's work, in order. */
export const steps = ['Received', 'Reading', 'Loading', 'Indexing', 'Drawing'] as const
export type Step = (typeof steps)[number]

const stepOfStage: Record<NonNullable<Upload['stage']>, Step> = {
  unpacking: 'Reading',
  scanning: 'Reading',
  loading: 'Loading',
  transforming: 'Loading',
  indexing: 'Indexing',
  overviews: 'Drawing',
  publishing: 'Drawing',
}

/** An upload that waits for its turn, perhaps again, is only received. */
export const stepOf = ({ status, stage }: Pick<Upload, 'status' | 'stage'>): Step =>
  status === 'pending' || stage === null ? 'Received' : stepOfStage[stage]

export const phaseOf = ({ status }: Upload): UploadPhase =>
  status === 'pending' || status === 'processing' ? 'processing' : status

/** The record's error, with its place in the file. */
export function failureOf({ fileName, error }: Pick<Upload, 'fileName' | 'error'>): string {
  const { message = 'The upload failed.', feature, line, layer } = error
  const place = [
    // The single layer of a table has the name of its file.
    layer !== undefined && !fileName.startsWith(layer) && `layer “${layer}”`,
    feature !== undefined && `feature ${feature}`,
    line !== undefined && `line ${line}`,
  ].filter((part) => part !== false && !message.toLowerCase().includes(part))
  return place.length === 0 ? message : `At ${place.join(', ')}: ${message}`
}

/** The created dataset and tiles of a layer. */
export interface UploadResult {
  label: string
  to: string
  shows: 'map' | 'table' | 'tiles'
}

export function resultsOf({ results, datasetId, tileSourceId, fileName }: Upload): UploadResult[] {
  const made = results.length > 0 ? results : [{ layer: fileName, datasetId, tileSourceId }]
  return made.flatMap((one) => {
    const { datasetId: madeId, tileSourceId: tilesId, layer: label } = one
    if (madeId) return { label, to: `/data/${madeId}/table`, shows: tilesId ? 'map' : 'table' }
    return tilesId ? { label, to: `/tiles/${tilesId}`, shows: 'tiles' } : []
  })
}
