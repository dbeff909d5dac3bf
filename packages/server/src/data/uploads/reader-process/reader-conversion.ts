// GDAL conversions on behalf of reader processes.
import { sep } from 'node:path'
import { type GdalTask, ReadFault } from '../readers/reader.ts'
import { type ConversionRequest, type ConversionUpdate, fileFaultOf } from './reader-messages.ts'

/** Converts a file with GDAL, in a new or pre-started process. */
export type GdalConversion = (task: GdalTask) => Promise<void>

export type ConversionOptions = {
  /** The directory that must contain all files of the conversion; undefined unless a file is being opened. */
  readonly directory: string | undefined
  /** Aborted when the reader has ended, because then the result is not needed. */
  readonly signal: AbortSignal
  tell(message: ConversionUpdate): void
}

/** Runs a conversion for a reader and reports its outcome. */
export function convertFor(
  convert: GdalConversion,
  task: ConversionRequest,
  { directory, signal, tell }: ConversionOptions,
): void {
  const onStarted = (pid: number): void => tell({ kind: 'converting', pid })
  const isAllowed = isWithin(directory, task)
  const done = isAllowed ? convert({ ...task, signal, onStarted }) : Promise.reject(new Error('Not its directory'))
  done.then(
    () => tell({ kind: 'converted' }),
    (error) => tell({ kind: 'converted', ...failureOf(error) }),
  )
}

function isWithin(
  directory: string | undefined,
  { source, sourceDirectory, resultDirectory }: ConversionRequest,
): boolean {
  const isInside = (path: string): boolean =>
    directory !== undefined && path.startsWith(directory + sep) && !path.split(sep).includes('..')
  return [source, sourceDirectory, resultDirectory].every(isInside)
}

function failureOf(error: unknown): Pick<Extract<ConversionUpdate, { kind: 'converted' }>, 'fault' | 'error'> {
  if (error instanceof ReadFault) return { fault: fileFaultOf(error) }
  return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}
