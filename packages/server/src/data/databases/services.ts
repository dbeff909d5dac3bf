/** What the operations of databases work with. */
import type { FastifyRequest } from 'fastify'
import type { Caller, Scope } from '../../api/access/acl.ts'
import { type Answer, operationUsing } from '../../api/http/operation.ts'
import type { BaseServices } from '../../api/resource/resource.ts'
import type { Connections } from './connection.ts'

type RequestContext = {
  readonly request: FastifyRequest
  readonly signal: AbortSignal
  readonly caller: Caller
  readonly scope: Scope
}

export type DatabaseServices = BaseServices & {
  readonly connections: Connections
  /** Carries out the operation `datasets.create` for whoever asks. */
  createDataset(context: RequestContext, body: object): Promise<Answer>
}

export const operation = operationUsing<DatabaseServices>()
