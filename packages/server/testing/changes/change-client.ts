import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { until } from '../until.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was sent
export type ChangeEvent = { event: string; data: any; id: string | undefined }
export type ChangeClient = Awaited<ReturnType<typeof openChanges>>

type Options = { port: number; id: string; key: string; lastEventId?: string | undefined; query?: string }

/** A client of a dataset's change feed, on a connection of its own. It parses by itself, because parsers hide ids without data. */
export async function openChanges({ port, id, key, lastEventId, query = '' }: Options) {
  const headers = { 'x-api-key': key, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) }
  const path = `/api/v1/datasets/${id}/changes${query}`
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ port, host: '127.0.0.1', path, headers, agent: false }, resolve).on('error', reject)
  })
  const events: ChangeEvent[] = []
  const state = { lastId: lastEventId, isOver: false }
  const isStream = String(response.headers['content-type']).startsWith('text/event-stream')
  const problem = isStream ? undefined : JSON.parse(await text(response))
  const over = isStream ? read() : Promise.resolve()

  async function read(): Promise<void> {
    let rest = ''
    try {
      for await (const piece of response) {
        const frames = (rest + piece).split('\n\n')
        rest = frames.pop() ?? ''
        for (const frame of frames) take(frame)
      }
    } catch {
      // A connection that was reset.
    } finally {
      state.isOver = true
    }
  }

  function take(frame: string): void {
    const fields = Object.fromEntries(frame.split('\n').map((line) => line.split(/: ?(.*)/s).slice(0, 2)))
    if (fields.id !== undefined) state.lastId = fields.id
    if (fields.data !== undefined) events.push({ event: fields.event, data: JSON.parse(fields.data), id: fields.id })
  }

  const changes = () => events.filter(({ event }) => event === 'change').map(({ data }) => data)
  return {
    status: response.statusCode,
    headers: response.headers,
    problem,
    events,
    response,
    over,
    lastId: () => state.lastId,
    isOver: () => state.isOver,
    names: () => events.map(({ event }) => event),
    changes,
    /** All keys of all events, as they came. */
    keys: (): unknown[] => changes().flatMap(({ keys }) => keys ?? []),
    /** Waits for the first event of this name. */
    async first(name: string): Promise<ChangeEvent> {
      await until(() => events.some(({ event }) => event === name))
      return events.find(({ event }) => event === name) as ChangeEvent
    },
    close: () => void response.destroy(),
  }
}
