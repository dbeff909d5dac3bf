import { raw } from '../../../kernel/db/sql.ts'
import { ApiError } from '../../../kernel/errors.ts'
import type { PostgresConnection } from '../../../query/execution/connection.ts'
import type { EngineVersions } from '../../../query/execution/introspection.ts'

const timeoutMs = 5_000

export async function serverVersions(connection: PostgresConnection, signal: AbortSignal): Promise<EngineVersions> {
  const server = await single(connection, signal, "SELECT current_setting('server_version')")
  const postgis = await single(
    { select: connection.catalog ?? connection.select },
    signal,
    "SELECT coalesce((SELECT extversion FROM pg_extension WHERE extname = 'postgis'), '')",
  ).catch(noVersion)
  return { serverVersion: server, ...(postgis && { postgisVersion: postgis }) }
}

/** A server may keep its catalogs to itself. */
function noVersion(error: unknown): string {
  if (error instanceof ApiError && error.code === 'invalid_request') return ''
  throw error
}

async function single(
  connection: Pick<PostgresConnection, 'select'>,
  signal: AbortSignal,
  text: string,
): Promise<string> {
  const { batches } = await connection.select(raw(text), { timeoutMs, signal, atMost: 1 })
  let value = ''
  for await (const [row] of batches) value = row?.[0] ?? ''
  return value
}
