import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import type { FastifyRequest } from 'fastify'
import { type Caller, demandAnyId, denied, type Scope, scopeOf } from '../access/acl.ts'
import { json, sql } from '../db/sql.ts'
import { ApiError, invalid } from '../errors.ts'
import { report } from '../events.ts'
import { lastSegment } from '../http/file-name.ts'
import { type Operation, operation } from '../http/operation.ts'
import { crudOperations } from '../resource/crud.ts'
import { metadataOperations } from '../resource/metadata.ts'
import { outputSchema } from '../resource/schemas.ts'
import { getEntity, getText, removeEntity, type Store, touched } from '../resource/store.ts'
import { type Arrival, type Arrive, quotaExceeded } from './arriving-uploads.ts'
import { formSchema, readFormFields } from './form-fields.ts'
import { foreignFileFault } from './readers/foreign-format.ts'
import { dismissBody, formBytes, type Pace, receiveForm } from './receive-file.ts'
import { demandReplaceable, type Replaced, type ReplacedSource } from './replaced-table.ts'
import { sourceFile, uploadDirectory } from './run-upload.ts'
import type { StatusWatch } from './status-watch.ts'
import type { StorageQuota } from './storage-quota.ts'
import type { UploadFormFields } from './upload.ts'
import { type FaultDto, faultOf, UploadFault } from './upload-fault.ts'
import { now } from './upload-state.ts'

export type UploadOperationsOptions = {
  store: Store
  /** DATA_DIR */
  directory: string
  maxBytes: number
  /** How slow a client may be. */
  pace: Pace
  /** A file begins to arrive, if there is room for it. */
  arrive: Arrive
  storage: StorageQuota
  findReplaced(applicationId: string, id: string): Promise<Replaced | undefined>
  /** The other datasets of the application whose table it is as well. */
  sharersOf(applicationId: string, id: string, replaced: Replaced): Promise<{ id: string; ownerId: number | null }[]>
  /** A file has come; it is not yet safe. */
  expect(): void
  /** It is, and on record. */
  begin(upload: { id: string; applicationId: string }): Promise<void>
  /** It is no longer wanted. */
  stop(upload: { id: string; applicationId: string }): Promise<void>
  /** Waits for changes of status. */
  watch: StatusWatch
  isStopping(): boolean
}

export function uploadOperations(options: UploadOperationsOptions): Operation[] {
  const { store } = options
  const standard = crudOperations(store).map((one) => (one.id === 'uploads.get' ? waitingGet(options, one) : one))
  return [create(options), ...standard, remove(options), ...metadataOperations(store)]
}

function create(options: UploadOperationsOptions): Operation {
  const { store, directory, maxBytes } = options
  return operation({
    id: 'uploads.create',
    method: 'POST',
    path: '/api/v1/uploads',
    summary: 'Send a file that becomes a dataset and a map',
    description:
      'Answers as soon as the file is stored; the record tells what becomes of it. A file that is plainly of no format that is read has failed already.',
    access: { class: 'uploads', level: 'execute' },
    multipart: formSchema,
    success: {
      status: 200,
      description: 'The upload',
      schema: outputSchema(store.resource),
      headers: ['ETag', 'Location'],
    },
    failures: [404, 408, 429],
    async handle({ request, caller, scope }) {
      const id = randomUUID()
      let arrival: Arrival | undefined
      let fault: FaultDto | undefined
      try {
        demandAnyId(scope)
        const declared = Number(request.raw.headers['content-length'] ?? 0)
        if (declared > maxBytes + formBytes) throw tooLarge(maxBytes)
        arrival = await options.arrive(caller.applicationId, id, Math.max(0, declared - formBytes))
        const isQuota = arrival.room < maxBytes
        const { fields, file } = await receiveForm(request.raw, sourceFile(directory, id), {
          maxBytes: Math.min(maxBytes, arrival.room),
          tooLarge: isQuota ? quotaExceeded(options.storage) : tooLarge(maxBytes),
          pace: options.pace,
          onBytes: arrival.note,
          onWhole: options.expect,
        })
        const form = readFormFields(fields)
        const replaces = form.datasetId === undefined ? null : await checkReplaced(options, caller, form.datasetId)
        fault = faultOf(await foreignFileFault(sourceFile(directory, id)))
        await insert(options, caller, scope, { id, file, form, replaces, fault }, arrival)
      } catch (error) {
        dismissBody(request.raw)
        await rm(uploadDirectory(directory, id), { recursive: true, force: true })
        throw error
      } finally {
        await arrival?.end()
      }
      if (fault) await rm(uploadDirectory(directory, id), { recursive: true, force: true })
      else await options.begin({ id, applicationId: caller.applicationId })
      const { json: body, revision } = await getText(store, scope, id)
      return { headers: { etag: `"${revision}"`, location: `/api/v1/uploads/${id}` }, json: body }
    },
  })
}

type Received = {
  id: string
  file: { name: string; size: number }
  form: UploadFormFields
  replaces: ReplacedSource | null
  /** What is known to be wrong with it already. */
  fault: FaultDto | undefined
}

async function insert(
  { store: { db } }: UploadOperationsOptions,
  { applicationId, bearer }: Caller,
  { ownerId }: Scope,
  { id, file: { name, size }, form, replaces, fault }: Received,
  arrival: Arrival,
): Promise<void> {
  const fileName = lastSegment(name.toWellFormed().replaceAll('\0', '')).slice(0, 255)
  if (fileName === '') throw invalid('body/file', 'must have a file name, such as places.csv')
  const owner = ownerId ?? bearer?.userId ?? null
  await db.transaction(async (tx) => {
    await arrival.settle(tx, size)
    await tx.query(sql`
      INSERT INTO svc.uploads (id, application_id, owner_id, file_name, path, options, replaces, size, status, error,
        finished_at)
      VALUES (${id}::uuid, ${applicationId}::uuid, ${owner}, ${fileName}, ${`uploads/${id}`}, ${json(form)},
        ${replaces && json(replaces)}, ${size}, ${fault ? 'failed' : 'pending'}, ${json(fault ?? {})},
        CASE WHEN ${fault !== undefined} THEN ${now} END)`)
  })
  if (fault) report('upload', { status: 'failed', seconds: 0 })
}

const tooLarge = (maxBytes: number): ApiError => new ApiError('too_large', `The file is larger than ${maxBytes} bytes.`)

/** The data of a dataset may be replaced by whoever may write it, and every other dataset that shows the same table. */
async function checkReplaced(options: UploadOperationsOptions, caller: Caller, id: string): Promise<ReplacedSource> {
  const { findReplaced, sharersOf, store } = options
  const scope = scopeOf(caller, 'datasets', 'write')
  const mayWrite = (one: { id: string; ownerId: number | null }): boolean =>
    (scope?.ids === 'any' || scope?.ids.includes(one.id) === true) &&
    (scope.ownerId === null || one.ownerId === scope.ownerId)
  if (!scope || (scope.ids !== 'any' && !scope.ids.includes(id))) {
    throw denied('The key does not grant write access to this dataset.')
  }
  const found = await findReplaced(caller.applicationId, id)
  if (!found || !mayWrite({ id, ownerId: found.ownerId })) {
    throw new ApiError('not_found', 'There is no Dataset with this id.')
  }
  if (found.type !== 'table')
    throw invalid('body/datasetId', 'must be a dataset of type table: only its data can be replaced')
  const { databaseId, source, ownSchema } = found
  if (ownSchema !== undefined) {
    await demandReplaceable(store.db, ownSchema, found.tableIn(ownSchema)).catch((error) => {
      throw error instanceof UploadFault ? invalid('body/datasetId', error.message) : error
    })
  }
  const sharers = await sharersOf(caller.applicationId, id, found)
  if (!sharers.every(mayWrite)) {
    throw denied('Another dataset uses the same table, and the key does not grant write access to that dataset.')
  }
  return { databaseId, source }
}

const longestWaitSeconds = 60

/** `Prefer: wait=20` answers when the status changes, or after that time. */
function waitingGet({ store, watch, isStopping }: UploadOperationsOptions, get: Operation): Operation {
  return {
    ...get,
    description: `With \`Prefer: wait=N\` it answers at the next change of status, or after N seconds (at most ${longestWaitSeconds}).`,
    async handle(context, input) {
      const seconds = waitOf(context.request)
      if (seconds === 0 || !('scope' in context)) return get.handle(context, input)
      const { scope } = context as { scope: Scope }
      const { entity } = await getEntity(store, scope, input.params.id ?? '', ['id', 'status'])
      const isUnfinished = entity.status === 'pending' || entity.status === 'processing'
      if (isUnfinished && !isStopping()) {
        await watch.changed(String(entity.id), String(entity.status), seconds * 1000, context.signal)
        context.signal.throwIfAborted()
      }
      const answer = await get.handle(context, input)
      return { ...answer, headers: { ...answer.headers, 'preference-applied': `wait=${seconds}` } }
    },
  }
}

function waitOf({ headers }: FastifyRequest): number {
  const [, seconds] = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})/i.exec(String(headers.prefer ?? '')) ?? []
  return Math.min(longestWaitSeconds, Number(seconds ?? 0))
}

/** Of one that has not ended: it is cancelled. Of one that has: its record goes, and what it made stays. */
function remove(options: UploadOperationsOptions): Operation {
  const { store } = options
  return operation({
    id: 'uploads.delete',
    method: 'DELETE',
    path: '/api/v1/uploads/{id}',
    summary: 'Cancel an upload, or delete the record of one that has ended',
    description: 'What a completed upload has made stays.',
    access: { class: 'uploads', level: 'write' },
    success: { status: 200, description: 'Cancelled or deleted; no body' },
    failures: [409],
    async handle({ scope }, { params }) {
      const id = params.id ?? ''
      const { entity } = await getEntity(store, scope, id, ['id', 'applicationId'])
      const [cancelled] = await store.db.query(sql`
        UPDATE svc.uploads SET status = 'cancelled', worker = NULL, finished_at = ${now}, ${touched}
        WHERE id = ${String(entity.id)}::uuid AND status IN ('pending', 'processing') RETURNING id`)
      if (!cancelled) {
        await removeEntity(store, scope, id, 'any')
        return {}
      }
      options.watch.tell(String(entity.id))
      await options.stop({ id: String(entity.id), applicationId: String(entity.applicationId) })
      return {}
    },
  })
}
