/**
 * Long polling of an upload: `Prefer: wait=20` answers when the status changes, or after that time. A client that names what it
 * has seen (`If-None-Match`) waits for any change of that, progress too, and not at all for one that has happened since: a
 * change between two requests is not missed.
 */
import type { FastifyRequest } from 'fastify'
import type { Scope } from '../../../api/access/acl.ts'
import type { Answer, Operation } from '../../../api/http/operation.ts'
import type { BaseServices } from '../../../api/resource/resource.ts'
import { etagOf, isUnchanged } from '../../../api/resource/revision.ts'
import { getEntity } from '../../../api/resource/store.ts'
import { upload } from '../record/upload.ts'
import type { StatusWatch } from './status-watch.ts'

export type WaitingServices = BaseServices & {
  readonly uploading: { readonly watch: StatusWatch }
  isStopping(): boolean
}

const longestWaitSeconds = 60

export function waitingGet<S extends WaitingServices>(get: Operation<S>): Operation<S> {
  return {
    ...get,
    description: `With \`Prefer: wait=N\` it answers at the next change of status, or after N seconds (at most ${longestWaitSeconds}). With \`If-None-Match\`, the ETag of the record as the client has it, it answers as soon as anything differs from that, progress too: at once if it already does, and with 304 if nothing has changed in N seconds.`,
    async handle(context, input) {
      const seconds = waitOf(context.request)
      if (seconds === 0 || !('scope' in context)) return get.handle(context, input)
      const { scope } = context as { scope: Scope }
      const held = await waitForChange(context, scope, input.params.id ?? '', seconds * 1000)
      const answer = await get.handle(context, input)
      const headers: Answer['headers'] = { ...answer.headers, 'preference-applied': `wait=${seconds}` }
      return held !== undefined && held === headers.etag ? { status: 304, headers } : { ...answer, headers }
    },
  }
}

/** Answers the ETag that the client waited for a change of, if it named one. */
async function waitForChange(
  context: { request: FastifyRequest; services: WaitingServices; readonly signal: AbortSignal },
  scope: Scope,
  id: string,
  milliseconds: number,
): Promise<string | undefined> {
  const { request, services } = context
  const { entity, revision, tag } = await getEntity({ resource: upload, services }, scope, id, ['id', 'status'])
  const status = String(entity.status)
  const isUnfinished = status === 'pending' || status === 'processing'
  if (!isUnfinished || services.isStopping()) return undefined
  const namesSeen = request.headers['if-none-match'] !== undefined
  if (namesSeen && !isUnchanged(request, tag)) return undefined
  const seen = namesSeen ? { revision } : { status }
  await services.uploading.watch.changed(String(entity.id), seen, milliseconds, context.signal)
  context.signal.throwIfAborted()
  return namesSeen ? etagOf(tag) : undefined
}

function waitOf({ headers }: FastifyRequest): number {
  const [, seconds] = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})/i.exec(String(headers.prefer ?? '')) ?? []
  return Math.min(longestWaitSeconds, Number(seconds ?? 0))
}
