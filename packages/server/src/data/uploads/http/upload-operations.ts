import { randomUUID } from 'node:crypto'
import Type from 'typebox'
import {
  type Caller,
  demandAnyId,
  denied,
  reachesId,
  reachesRecord,
  type Scope,
  scopeOf,
} from '../../../api/access/acl.ts'
import { changeWithEntry, transactWithEntry } from '../../../api/access/audit-trail.ts'
import { lastSegment } from '../../../api/http/answers/file-name.ts'
import { type Operation, operationUsing } from '../../../api/http/operation.ts'
import { crudOperations } from '../../../api/resource/crud.ts'
import { metadataOperations } from '../../../api/resource/documents/metadata.ts'
import type { BaseServices } from '../../../api/resource/resource.ts'
import { outputSchema } from '../../../api/resource/schemas.ts'
import { getEntity, getText, removeEntity, touched } from '../../../api/resource/store.ts'
import type { Queryable } from '../../../kernel/db/db.ts'
import { json, sql } from '../../../kernel/db/sql.ts'
import { ApiError, invalid } from '../../../kernel/errors.ts'
import { report } from '../../../kernel/events.ts'
import { overLimit } from '../../../kernel/limits/limits.ts'
import { type FileStore, uploadKey } from '../../../kernel/storage/file-store.ts'
import { currentTraceparent } from '../../../kernel/tracing.ts'
import { demandRecordWriteOf } from '../../datasets/rules/record-view.ts'
import { demandReplaceable, type ReplacedDataset, type ReplacedSource } from '../load/replaced-table.ts'
import { unsupportedFileFault } from '../readers/unsupported-format.ts'
import { upload } from '../record/upload.ts'
import { type FaultDto, faultOf, UploadFault } from '../record/upload-fault.ts'
import { type UploadPreview, uploadPreviewSchema } from '../record/upload-preview.ts'
import { now, uploadColumns, uploadRow } from '../record/upload-state.ts'
import type { PreviewUpload, ReceivedUpload } from '../run/preview-upload.ts'
import { removeUpload, sourceFile } from '../run/upload-files.ts'
import { type Arrival, type Arrive, quotaExceeded } from './arriving-uploads.ts'
import { checkFields, dryRunAnswer, previewOf } from './dry-run.ts'
import { formSchema, readFormFields } from './form-fields.ts'
import { dismissBody, formBytes, type Pace, receiveForm } from './receive-file.ts'
import type { StatusWatch } from './status-watch.ts'
import type { StorageQuota } from './storage-quota.ts'
import { waitingGet } from './waiting-get.ts'

export type UploadOperationsOptions = {
  /** DATA_DIR */
  directory: string
  files: FileStore
  maxBytes: number
  /** The slowest allowed client. */
  pace: Pace
  /** Starts receiving a file if limits allow. */
  arrive: Arrive
  storage: StorageQuota
  findReplaced(applicationId: string, id: string): Promise<ReplacedDataset | undefined>
  /** Other datasets of the application with the same table. */
  sharersOf(
    applicationId: string,
    id: string,
    replaced: ReplacedDataset,
  ): Promise<{ id: string; ownerId: number | null }[]>
  /** A file has arrived, but is not stored safely yet. */
  expect(): void
  /** The upload is stored and recorded. */
  announce(): void
  /** The upload was cancelled. */
  stop(upload: { id: string; applicationId: string }): Promise<void>
  /** Waits for status changes. */
  watch: StatusWatch
  /** Tells what an upload would make. */
  preview: PreviewUpload
}

export type UploadServices = BaseServices & {
  readonly uploading: UploadOperationsOptions
  isStopping(): boolean
}
const operation = operationUsing<UploadServices>()

const create = operation({
  id: 'uploads.create',
  method: 'POST',
  path: '/api/v1/uploads',
  summary: 'Send a file that becomes a dataset and a map',
  description:
    'Answers as soon as the file is stored; the record tells what becomes of it. A file that is plainly of no format that is read has failed already. With `dryRun=true` it answers what would be made, and makes nothing.',
  access: { class: 'uploads', level: 'execute' },
  query: Type.Object({
    dryRun: Type.Optional(
      Type.Boolean({ description: 'Answer what would be made of the file (UploadPreview), and make nothing' }),
    ),
  }),
  multipart: formSchema,
  success: {
    status: 200,
    description: 'The upload; with `dryRun=true` what would be made',
    schema: Type.Union([outputSchema(upload), uploadPreviewSchema]),
    headers: ['ETag', 'Location'],
  },
  failures: [404, 408, 429],
  async handle({ request, caller, scope, services, signal }, { query: { dryRun: isDryRun = false } }) {
    const { uploading: options } = services
    const { directory, maxBytes } = options
    const id = randomUUID()
    let arrival: Arrival | undefined
    let fault: FaultDto | undefined
    let preview: UploadPreview | undefined
    try {
      demandAnyId(scope)
      const declared = Number(request.raw.headers['content-length'] ?? 0)
      if (declared > maxBytes + formBytes) throw tooLarge(maxBytes)
      arrival = await options.arrive(caller.applicationId, id, Math.max(0, declared - formBytes))
      const isQuota = arrival.room < maxBytes
      const { fields, file } = await receiveForm(request.raw, sourceFile(directory, id), {
        maxBytes: Math.min(maxBytes, arrival.room),
        tooLarge: isQuota ? await overQuota(services, caller.applicationId) : tooLarge(maxBytes),
        pace: options.pace,
        onBytes: arrival.note,
        onWhole: options.expect,
      })
      const form = readFormFields(fields)
      const replaces = form.datasetId === undefined ? null : await checkReplaced(services, caller, form.datasetId)
      fault = faultOf(await unsupportedFileFault(sourceFile(directory, id)))
      const { applicationId } = caller
      const received = { id, applicationId, fileName: fileNameOf(file.name), size: file.size, options: form }
      if (isDryRun) preview = await previewOf(options.preview, received, fault, signal)
      else await keep(services, caller, scope, { ...received, replaces, fault }, arrival, signal)
    } catch (error) {
      dismissBody(request.raw)
      await removeUpload(options, id)
      throw error
    } finally {
      await arrival?.end()
    }
    if (fault || isDryRun) await removeUpload(options, id)
    if (preview) return dryRunAnswer(preview, scope)
    const { json: body, tag } = await getText({ resource: upload, services }, scope, id)
    if (!fault) options.announce()
    return { headers: { etag: `"${tag}"`, location: `/api/v1/uploads/${id}` }, json: body }
  },
})

type Received = ReceivedUpload & {
  replaces: ReplacedSource | null
  /** A fault that is already known. */
  fault: FaultDto | undefined
}

function fileNameOf(name: string): string {
  const fileName = lastSegment(name.toWellFormed().replaceAll('\0', '')).slice(0, 255)
  if (fileName === '') throw invalid('body/file', 'must have a file name, such as places.csv')
  return fileName
}

/** Stores a file that is not refused, and its record. */
async function keep(
  services: UploadServices,
  caller: Caller,
  scope: Scope,
  received: Received,
  arrival: Arrival,
  signal: AbortSignal,
): Promise<void> {
  const { preview, files, directory } = services.uploading
  const { id, fault } = received
  if (!fault) {
    await checkFields(preview, received, signal)
    await files.put(uploadKey(id), sourceFile(directory, id))
  }
  await insert(services, caller, scope, received, arrival)
}

async function insert(
  { db }: UploadServices,
  { bearer }: Caller,
  { ownerId, trail }: Scope,
  { id, applicationId, fileName, size, options, replaces, fault }: Received,
  arrival: Arrival,
): Promise<void> {
  const owner = ownerId ?? bearer?.userId ?? null
  const settle = await arrival.prepareToSettle()
  if (trail) trail.target = { type: 'uploads', id, name: fileName }
  const record = async (tx: Queryable): Promise<void> => {
    await settle(tx, size)
    await tx.query(sql`
      INSERT INTO svc.uploads (id, application_id, owner_id, file_name, path, options, replaces, size, status, error,
        finished_at, traceparent)
      VALUES (${id}::uuid, ${applicationId}::uuid, ${owner}, ${fileName}, ${`uploads/${id}`}, ${json(options)},
        ${replaces && json(replaces)}, ${size}, ${fault ? 'failed' : 'pending'}, ${json(fault ?? {})},
        CASE WHEN ${fault !== undefined} THEN ${now} END, ${currentTraceparent()})`)
  }
  await arrival.inTurn(() => transactWithEntry(db, trail, record))
  if (fault) report('upload', { status: 'failed', seconds: 0 })
}

const overQuota = async ({ db, uploading }: UploadServices, applicationId: string): Promise<ApiError> =>
  quotaExceeded(await uploading.storage.limitOf(db, applicationId))

const tooLarge = (maxBytes: number): ApiError =>
  overLimit('uploadBytes', maxBytes, `The file is larger than ${maxBytes} bytes.`)

/** Replacing a dataset's data needs write access to it and to every other dataset that shows the same table. */
async function checkReplaced({ db, uploading }: UploadServices, caller: Caller, id: string): Promise<ReplacedSource> {
  const { findReplaced, sharersOf } = uploading
  const scope = scopeOf(caller, 'datasets', 'write')
  const mayWrite = (one: { id: string; ownerId: number | null }): boolean => reachesRecord(scope, one)
  if (!reachesId(scope, id)) throw denied('The key does not grant write access to this dataset.')
  const dataset = await findReplaced(caller.applicationId, id)
  if (!dataset || !mayWrite({ id, ownerId: dataset.ownerId })) {
    throw new ApiError('not_found', 'There is no Dataset with this id.')
  }
  await demandRecordWriteOf(db, { caller }, id)
  if (dataset.type !== 'table')
    throw invalid('body/datasetId', 'must be a dataset of type table: only its data can be replaced')
  const { databaseId, source, ownSchema } = dataset
  if (ownSchema !== undefined) {
    await demandReplaceable(db, ownSchema, dataset.tableIn(ownSchema)).catch((error) => {
      throw error instanceof UploadFault ? invalid('body/datasetId', error.message) : error
    })
  }
  const sharers = await sharersOf(caller.applicationId, id, dataset)
  if (!sharers.every(mayWrite)) {
    throw denied('Another dataset uses the same table, and the key does not grant write access to that dataset.')
  }
  return { databaseId, source }
}

/** Cancels an unfinished upload; deletes the record of a finished one and keeps what it made. */
const remove = operation({
  id: 'uploads.delete',
  method: 'DELETE',
  path: '/api/v1/uploads/{id}',
  summary: 'Cancel an upload, or delete the record of one that has ended',
  description: 'What a completed upload has made stays.',
  access: { class: 'uploads', level: 'write' },
  success: { status: 200, description: 'Cancelled or deleted; no body' },
  failures: [409],
  async handle({ scope, services }, { params: { id } }) {
    const store = { resource: upload, services }
    const { entity } = await getEntity(store, scope, id, ['id', 'applicationId'])
    const cancel = sql`
        UPDATE svc.uploads SET status = 'cancelled', worker = NULL, feature_count = NULL, finished_at = ${now}, ${touched}
        WHERE id = ${String(entity.id)}::uuid AND status IN ('pending', 'processing')`
    const [cancelled] = await changeWithEntry(services.db, scope.trail, cancel, uploadColumns, uploadRow)
    if (cancelled && scope.trail) scope.trail.isWritten = true
    if (!cancelled) {
      await removeEntity(store, scope, id, 'any')
      return {}
    }
    services.uploading.watch.tell(String(entity.id))
    await services.uploading.stop({ id: String(entity.id), applicationId: String(entity.applicationId) })
    return {}
  },
})

export const uploadOperations: readonly Operation<UploadServices>[] = [
  create,
  ...crudOperations<UploadServices>(upload).map((one) => (one.id === 'uploads.get' ? waitingGet(one) : one)),
  remove,
  ...metadataOperations<UploadServices>(upload),
]
