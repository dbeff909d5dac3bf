import { createParser } from 'eventsource-parser'

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was sent
export type SentEvent = { event: string; data: any; at: number }

/** Opens a stream of Server-Sent Events as a browser would, and collects what comes. */
export async function openStream(
  url: string,
  key: string,
  body: object,
  signal?: AbortSignal,
  headers: Record<string, string> = {},
) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  })
  const events: SentEvent[] = []
  let comments = 0
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
  const over = isStream ? read() : Promise.resolve()
  over.catch(() => {})

  async function read(): Promise<void> {
    const parser = createParser({
      onEvent: ({ event = '', data }) => void events.push({ event, data: JSON.parse(data), at: performance.now() }),
      onComment: () => {
        comments += 1
      },
    })
    const decoder = new TextDecoder()
    for await (const piece of response.body ?? []) parser.feed(decoder.decode(piece, { stream: true }))
  }

  return {
    status: response.status,
    headers: response.headers,
    /** The answer when it is none of events. */
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was answered
    problem: (isStream ? undefined : await response.json()) as any,
    events,
    comments: () => comments,
    over,
    names: () => events.map(({ event }) => event),
    text: () => events.flatMap(({ event, data }) => (event === 'delta' ? [data.text] : [])).join(''),
    last: () => events.at(-1),
  }
}
