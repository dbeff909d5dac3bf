/** What the errors of MapLibre tell, without keys. */
import { withoutKeys } from './map-client.ts'

/** For a missing source layer, MapLibre names the source only in the message. */
export const namedSource = (error: unknown): string | undefined =>
  error instanceof Error ? /does not exist on source "([^"]+)"/.exec(error.message)?.[1] : undefined

export function errorOf(cause: unknown, prefix = ''): Error {
  const message = cause instanceof Error ? cause.message : String(cause)
  return new Error(`${prefix}${withoutKeys(message)}`, { cause })
}
