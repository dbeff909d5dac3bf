import { randomUUID } from 'node:crypto'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { StartError } from '../errors.ts'
import type { Bus } from './bus.ts'
import { createJoiner, cut } from './pieces.ts'

/** How long a replica may take to say that it has a message. Whether it is there at all the broker knows at once. */
const receiptMs = 2_000

export type NatsOptions = {
  url: string
  /** Tells installations apart that share a broker. */
  namespace: string
  onError(error: unknown): void
}

/** The bus of replicas that share a NATS server. */
export async function createNatsBus({ url, namespace, onError }: NatsOptions): Promise<Bus> {
  const id = randomUUID()
  const nats = await connectTo(url)
  const subjectOf = (replica: string) => `svc.${namespace}.replica.${replica}`
  const everyone = `svc.${namespace}.all`
  let hear: ((message: unknown, from: string) => void) | undefined

  const join = createJoiner()
  for (const subject of [subjectOf(id), everyone]) {
    nats.subscribe(subject, {
      callback(error, message) {
        if (error) return onError(error)
        if (message.reply) message.respond()
        const text = join(message.data)
        if (text === undefined) return
        const { from, message: said } = JSON.parse(text) as { from: string; message: unknown }
        if (from !== id) hear?.(said, from)
      },
    })
  }

  const piecesOf = (message: object) => cut(JSON.stringify({ from: id, message }))
  const publish = (subject: string, message: object) => {
    if (nats.isClosed()) return
    for (const piece of piecesOf(message)) nats.publish(subject, piece)
  }
  return {
    id,
    async send(to, message) {
      if (nats.isClosed()) return false
      const pieces = piecesOf(message)
      const last = pieces.pop()
      for (const piece of pieces) nats.publish(subjectOf(to), piece)
      return nats.request(subjectOf(to), last, { timeout: receiptMs }).then(
        () => true,
        () => false,
      )
    },
    post: (to, message) => publish(subjectOf(to), message),
    broadcast: (message) => publish(everyone, message),
    listen(listener) {
      hear = listener
    },
    close: () => nats.drain().catch(onError),
  }
}

async function connectTo(url: string): Promise<NatsConnection> {
  const { username, password, protocol, host } = new URL(url)
  const credentials = password
    ? { user: decodeURIComponent(username), pass: decodeURIComponent(password) }
    : username
      ? { token: decodeURIComponent(username) }
      : {}
  try {
    return await connect({
      servers: host,
      ...credentials,
      ...(protocol === 'tls:' && { tls: {} }),
      // The client's own defaults give up after ten tries, and notice a broken line after four minutes.
      maxReconnectAttempts: -1,
      reconnectTimeWait: 500,
      pingInterval: 10_000,
    })
  } catch (error) {
    throw new StartError(
      `NATS_URL: the server could not be reached (${error instanceof Error ? error.message : error}).`,
    )
  }
}
