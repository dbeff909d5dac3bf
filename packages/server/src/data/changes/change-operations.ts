import { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Scope } from '../../api/access/acl.ts'
import { eventSchema, eventStreamHeaders } from '../../api/http/answers/event-stream.ts'
import { type Answer, type Operation, operationUsing } from '../../api/http/operation.ts'
import { hasLeft } from '../../api/http/request-signal.ts'
import type { RecordCache } from '../../api/resource/record-cache.ts'
import type { Admission } from '../../kernel/concurrency/admission.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { CachedDataset } from '../datasets/dataset-cache.ts'
import type { ChangeFeed } from './change-feed.ts'
import { createListener, type Listener } from './listener.ts'
import { errorFrame } from './topic.ts'

export type ChangeServices = {
  readonly datasetCache: RecordCache<CachedDataset>
  readonly changeFeed: ChangeFeed
  /** How many listeners an application may have. */
  readonly listenerSlots: Admission
}

const lastEventId = Type.Optional(
  Type.String({
    maxLength: 200,
    description: 'The same as the header Last-Event-ID, for clients that cannot set it. The header comes first',
  }),
)

export const changeOperations: readonly Operation<ChangeServices>[] = [
  operationUsing<ChangeServices>()({
    id: 'datasets.changes',
    method: 'GET',
    path: '/api/v1/datasets/{id}/changes',
    summary: 'Follow the changes of a dataset',
    description:
      'Server-Sent Events: `ready` first, then `change` with `version`, `operations`, `rows`, `keys` and `boxes` for what was ' +
      'written, in commits that are done; `reset` where changes were missed, so that everything must be read anew; `error` as the last ' +
      'event of a stream that cannot go on. With `Last-Event-ID` a stream goes on where the last one ended. ' +
      '`keys` is null where they are not known or more than 1 000, `boxes` (west, south, east, north) where the place is not known: ' +
      'then anything may have changed. Datasets of type `table` in the internal database can be followed, and editable ones in a ' +
      'PostgreSQL database of the application’s own (409 otherwise): of these only what is written through this server is told, and ' +
      '`ready` has `scope: "graticule"`.',
    access: { class: 'datasets', level: 'execute' },
    query: Type.Object({ lastEventId }),
    success: {
      status: 200,
      description: 'The events',
      schema: eventSchema(['ready', 'change', 'reset', 'error']),
      contentType: 'text/event-stream',
    },
    failures: [409, 429],
    async handle(context, { params: { id }, query }) {
      const { datasetCache, listenerSlots } = context.services
      const { dataset } = await datasetCache.get(context.scope, id)
      const release = await listenerSlots.admit(dataset.applicationId)
      try {
        return await openChanges(context, dataset, lastIdOf(context.request, query.lastEventId), release)
      } catch (error) {
        release()
        throw error
      }
    },
  }),
]

/** The log has no values, so nothing could say which of its changes a caller whom rules bind may see: only that there are some. */
const isNarrowed = ({ narrowing }: CachedDataset['dataset']): boolean => narrowing !== undefined

type Context = {
  readonly request: FastifyRequest
  readonly scope: Scope
  readonly services: ChangeServices
  readonly signal: AbortSignal
}

/** An empty header is that of a client which has got no event yet. */
function lastIdOf({ headers }: FastifyRequest, parameter: string | undefined): string | undefined {
  const header = headers['last-event-id']
  return (typeof header === 'string' ? header : undefined) || parameter || undefined
}

async function openChanges(
  context: Context,
  dataset: CachedDataset['dataset'],
  lastId: string | undefined,
  release: () => void,
): Promise<Answer> {
  const { scope, services, request, signal } = context
  const { datasetCache, changeFeed } = services
  signal.throwIfAborted()
  const listener = createListener({ reset: () => resetConnection(request) })
  const isBound = isNarrowed(dataset)
  const recheck = async (): Promise<void> => {
    const { dataset: current } = await datasetCache.get(scope, dataset.id)
    if (isBound !== isNarrowed(current))
      throw new ApiError('rule_refused', 'The rules of the dataset were changed. Connect again.')
  }
  const leave = await changeFeed.subscribe(dataset, lastId, { listener, recheck, signal, isBound })
  const forget = endWith(signal, listener)
  listener.body.once('close', () => {
    forget()
    leave()
    release()
  })
  return { headers: eventStreamHeaders, body: listener.body }
}

function resetConnection({ raw }: FastifyRequest): void {
  if (raw.socket instanceof Socket) raw.socket.resetAndDestroy()
}

/** The stream ends with its request: when the client leaves, and when its credential is revoked. */
function endWith(signal: AbortSignal, listener: Listener): () => void {
  const end = (): void => {
    const { reason } = signal
    if (reason instanceof ApiError && !hasLeft(reason)) listener.end(errorFrame(reason))
    else listener.body.destroy()
  }
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  return () => signal.removeEventListener('abort', end)
}
