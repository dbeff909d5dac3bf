import { unavailable } from '../database-error.ts'
import { slimBundle } from './embedded-bundle.ts'
import type { SessionOptions } from './embedded-protocol.ts'
import { type EmbeddedSession, startSession } from './embedded-session.ts'

export type Sessions = {
  current(): Promise<EmbeddedSession>
  /** Ends the session in good order and starts the next. Nothing may be under way. */
  renew(): Promise<void>
  close(): Promise<void>
}

/** Supervisor of the session: when it crashes, the next one is started at once. */
export async function createSessions(
  options: Omit<SessionOptions, 'bundle'>,
  onError: (error: unknown) => void,
): Promise<Sessions> {
  const bundle = await slimBundle()
  let closed = false
  let isRenewing = false
  let session: Promise<EmbeddedSession> | undefined

  function current(): Promise<EmbeddedSession> {
    if (closed) return Promise.reject(unavailable(new Error('The database is closed')))
    session ??= start()
    return session
  }

  async function start(): Promise<EmbeddedSession> {
    try {
      const started = await startSession({ ...options, bundle })
      void started.ended.then(restart)
      return started
    } catch (error) {
      session = undefined
      throw error
    }
  }

  function restart(cause: unknown): void {
    if (closed) return
    session = undefined
    if (!isRenewing) onError(cause)
    current().catch(onError)
  }

  await current()
  return {
    current,
    async renew() {
      isRenewing = true
      try {
        await (await current()).close()
      } finally {
        isRenewing = false
      }
      await current()
    },
    async close() {
      closed = true
      await (await session?.catch(() => undefined))?.close()
    },
  }
}
