/** An upload job: a file that is being sent, processed by the server, or finished. */
import type { Upload, UploadOptions } from '@graticule/client'
import type { SendingSample } from './sending-rate.ts'

/** `unwatched`: the server has the file, but the key may not read its status. */
export type UploadPhase = 'waiting' | 'sending' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'unwatched'

export interface UploadJob {
  readonly key: string
  readonly fileName: string
  readonly size: number
  /** Null if it was sent by another page or before this one was loaded. */
  readonly file: File | null
  readonly options: UploadOptions
  readonly phase: UploadPhase
  /** Not sent while its options are edited. */
  readonly isHeld: boolean
  readonly samples: readonly SendingSample[]
  /** The server's record, once it exists. */
  readonly upload: Upload | null
  /** An error that is not in the record. */
  readonly error: unknown
}

const goingOn: readonly UploadPhase[] = ['waiting', 'sending', 'processing']

export const isEnded = ({ phase }: UploadJob): boolean => !goingOn.includes(phase)

/** Whether closing the page would lose it. */
export const isUnsent = ({ phase }: UploadJob): boolean => phase === 'waiting' || phase === 'sending'

/** Overviews follow `completed`: the data can be used meanwhile. */
export const hasOverviewsToCome = ({ status, overviews }: Upload): boolean =>
  status === 'completed' && (overviews?.status === 'pending' || overviews?.status === 'building')

export const stageNames: Record<NonNullable<Upload['stage']>, string> = {
  unpacking: 'Unpacking',
  scanning: 'Scanning',
  loading: 'Loading',
  transforming: 'Transforming',
  indexing: 'Indexing',
  overviews: 'Making overviews',
  publishing: 'Publishing',
}

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
}

export function resultsOf({ results, datasetId, tileSourceId, fileName }: Upload): UploadResult[] {
  const made = results.length > 0 ? results : [{ layer: fileName, datasetId, tileSourceId }]
  return made.flatMap((one) => {
    if (one.datasetId) return { label: one.layer, to: `/data/${one.datasetId}/table` }
    return one.tileSourceId ? { label: one.layer, to: `/tiles/${one.tileSourceId}` } : []
  })
}
