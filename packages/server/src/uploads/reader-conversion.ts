import type { ChildProcess } from 'node:child_process'
import { sep } from 'node:path'
import type { ConversionWanted, Converted, Converting, ReaderReply } from './reader-messages.ts'
import { type GdalTask, ReadFault } from './readers/reader.ts'

/** Converts a file by GDAL, in a process that is started for it or was before. */
export type Convert = (task: GdalTask) => Promise<void>

/** Does the conversions that a reader asks for, of files in the directory that it was given. They end with the reader. */
export function answerConversions(child: ChildProcess, convert: Convert, directoryOf: () => string | undefined): void {
  const ended = new AbortController()
  child.once('exit', () => ended.abort())
  const tell = (message: Converted | Converting): void => void (child.connected && child.send(message))
  child.on('message', (reply: ReaderReply) => {
    if (reply.kind !== 'convert') return
    const task = { ...reply.task, signal: ended.signal, onStarted: (pid: number) => tell({ kind: 'converting', pid }) }
    const done = isWithin(directoryOf(), reply.task) ? convert(task) : Promise.reject(new Error('Not its directory'))
    done.then(
      () => tell({ kind: 'converted' }),
      (error) => tell({ kind: 'converted', ...failureOf(error) }),
    )
  })
}

function isWithin(
  directory: string | undefined,
  { source, sourceDirectory, resultDirectory }: ConversionWanted,
): boolean {
  const isInside = (path: string): boolean =>
    directory !== undefined && path.startsWith(directory + sep) && !path.split(sep).includes('..')
  return [source, sourceDirectory, resultDirectory].every(isInside)
}

function failureOf(error: unknown): Omit<Converted, 'kind'> {
  if (error instanceof ReadFault) return { fault: { code: error.code, message: error.message } }
  return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}
