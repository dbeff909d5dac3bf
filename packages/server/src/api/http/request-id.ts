import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** The id of a request: the one that it brings, or a new one. */
export const requestIdOf = ({ headers }: Pick<IncomingMessage, 'headers'>): string =>
  acceptedId(headers['x-request-id']) ?? randomUUID()

const acceptedId = (id: unknown): string | undefined =>
  typeof id === 'string' && /^[\w.-]{8,64}$/.test(id) ? id : undefined
