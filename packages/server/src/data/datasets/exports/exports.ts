// Exports: answers in binary formats, streamed from a thread or sent from a file.
import { serialize } from 'node:v8'
import type { FastifyRequest } from 'fastify'
import { downloadOf } from '../../../api/http/answers/download-headers.ts'
import type { Answer } from '../../../api/http/operation.ts'
import { answerFormat, type ExportFormat } from '../../../query/formats/answer-formats.ts'
import type { OutputColumn } from '../../../query/formats/cell.ts'
import type { ExportOrder } from '../../../query/formats/exports/export-order.ts'
import { declaredShape } from '../../../query/formats/exports/flatgeobuf/flatgeobuf-shape.ts'
import type { Plan } from '../../../query/plan/plan.ts'
import type { DataVersions } from '../data-versions.ts'
import type { Dataset } from '../dataset-record.ts'
import type { ParameterValues, SourceRows } from '../dataset-type.ts'
import { type AnswerBody, streamAnswer } from '../queries/stream-answer.ts'
import type { StreamSlots } from '../queries/stream-slots.ts'
import { exportColumns } from './export-columns.ts'
import { type ExportFiles, type ExportKey, hashOf, unwatchedMs } from './export-files.ts'
import type { ExportFile } from './export-readers.ts'
import { watchedMs } from './export-sweep.ts'
import type { ExportThreads } from './export-threads.ts'
import { fileAnswer } from './file-answer.ts'

export type Exports = {
  readonly threads: ExportThreads
  readonly files: ExportFiles
  readonly versions: DataVersions
  /** The largest file. */
  readonly maxBytes: number
  /** The definition of a reference system as WKT. */
  wktOf(srid: number): Promise<string | undefined>
}

type Context = { readonly request: FastifyRequest; readonly signal: AbortSignal }

export type ExportQuery = {
  readonly format: ExportFormat
  readonly dataset: Dataset
  readonly plan: Plan
  readonly srid: number
  /** The values of the dataset's own parameters. */
  readonly inputs: ParameterValues
  readonly filename: string | undefined
  begin(signal: AbortSignal): Promise<SourceRows>
}

/**
 * A reader that asks for a range, or for the length alone, gets it from a file; so do formats that are whole only at their
 * end. Others are streamed, unless the same file was made before.
 */
export async function exportAnswer(
  context: Context,
  { exports, slots }: { exports: Exports; slots: StreamSlots },
  query: ExportQuery,
): Promise<Answer> {
  const { request, signal } = context
  const { files } = exports
  const isPost = request.method === 'POST'
  const asksForPart = !isPost && (request.method === 'HEAD' || request.headers.range !== undefined)
  const { key, isWatched } = await keyOf(exports, query)
  const send = (file: ExportFile): Promise<Answer> => fileAnswer(context, file, headersOf(query))
  const kept = await files.find(key)
  if (kept && (isWatched || asksForPart)) return send(kept)
  await kept?.handle.close()
  const write = fileWriter(exports, slots, query)
  // A file that another reader takes in parts must not change under it.
  if (kept) return send(await files.makeOnce(key.applicationId, signal, write))
  if (asksForPart || isMadeFirst(query)) return send(await files.make(key, signal, write))
  return streamAnswer(context, slots, query.dataset.applicationId, {
    begin: query.begin,
    write: (answered, whileRead) => streamBody(exports, query, answered, whileRead),
  })
}

async function keyOf(
  { versions }: Exports,
  { format, dataset, plan, srid, inputs }: ExportQuery,
): Promise<{ key: ExportKey; isWatched: boolean }> {
  const { id, applicationId, revision, narrowing } = dataset
  const version = await versions.exactly(dataset)
  const hash = hashOf(serialize([format, id, revision, version, narrowing?.digest, srid, inputs, plan]))
  const isWatched = version !== undefined
  return { key: { applicationId, hash, maxAgeMs: isWatched ? watchedMs : unwatchedMs }, isWatched }
}

function headersOf({ format, dataset, filename }: ExportQuery): Record<string, string> {
  const { mediaTypes, extension } = answerFormat(format)
  return { 'content-type': mediaTypes[0], ...downloadOf(filename ?? `${dataset.name}.${extension}`) }
}

/** FlatGeobuf is streamed only where the database says of a column what the header has to say of all geometries. */
function isMadeFirst({ format, plan, dataset }: ExportQuery): boolean {
  if (format === 'fgb') return declaredShape(exportColumns(plan.columns, dataset)) === undefined
  return answerFormat(format).made === 'file'
}

/** The query takes a slot of its application, as one that is streamed does. */
function fileWriter(exports: Exports, slots: StreamSlots, query: ExportQuery) {
  const { applicationId } = query.dataset
  return async (path: string, signal: AbortSignal): Promise<void> => {
    const giveBack = await slots.take(applicationId, signal)
    const reading = new AbortController()
    try {
      const { columns, batches } = await query.begin(AbortSignal.any([signal, reading.signal]))
      const order = { ...(await orderOf(exports, query, columns)), path }
      await exports.threads.write(order, batches, { applicationId, signal })
    } finally {
      reading.abort(new Error('The file is written.'))
      giveBack()
    }
  }
}

async function streamBody(
  exports: Exports,
  query: ExportQuery,
  { columns, batches }: SourceRows,
  signal: AbortSignal,
): Promise<AnswerBody> {
  const order = await orderOf(exports, query, columns)
  const { applicationId } = query.dataset
  const pieces = exports.threads.stream(order, batches, { applicationId, signal })
  // Before the first piece a failure is still an ordinary error.
  const first = await pieces.next()
  return { headers: headersOf(query), pieces: resumed(first, pieces) }
}

async function* resumed<T>(first: IteratorResult<T>, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    if (first.done) return
    yield first.value
    yield* rest
  } finally {
    await rest.return(undefined)
  }
}

async function orderOf(
  { maxBytes, wktOf }: Exports,
  { format, dataset, srid }: ExportQuery,
  columns: readonly OutputColumn[],
): Promise<ExportOrder> {
  return {
    format,
    name: dataset.name,
    columns: exportColumns(columns, dataset),
    srid,
    wkt: await wktOf(srid),
    maxBytes,
  }
}
