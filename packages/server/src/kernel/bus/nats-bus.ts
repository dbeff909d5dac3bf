import { randomUUID } from 'node:crypto'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { StartError } from '../errors.ts'
import type { Bus } from './bus.ts'
import { createChunkJoiner, splitMessage } from './message-chunks.ts'

/** Time-out for the receipt of a message. That a replica has no subscription the broker answers at once. */
const receiptMs = 2_000

export type NatsOptions = {
  url: string
  /** Separates installations that share a broker. */
  namespace: string
  onError(error: unknown): void
}

/** The bus over NATS. */
export async function createNatsBus({ url, namespace, onError }: NatsOptions): Promise<Bus> {
  const id = randomUUID()
  const nats = await connectTo(url)
  const isConnected = watchConnection(nats)
  const subjectOf = (replica: string) => `svc.${namespace}.replica.${replica}`
  const everyone = `svc.${namespace}.all`
  let listener: ((message: unknown, from: string) => void) | undefined

  const join = createChunkJoiner()
  for (const subject of [subjectOf(id), everyone]) {
    nats.subscribe(subject, {
      callback(error, message) {
        if (error) return onError(error)
        if (message.reply) message.respond()
        const text = join(message.data)
        if (text === undefined) return
        const { from, message: received } = JSON.parse(text) as { from: string; message: unknown }
        if (from !== id) listener?.(received, from)
      },
    })
  }

  const chunksOf = (message: object) => splitMessage(JSON.stringify({ from: id, message }))
  const publish = (subject: string, message: object) => {
    if (nats.isClosed()) return
    for (const chunk of chunksOf(message)) nats.publish(subject, chunk)
  }
  return {
    id,
    async send(to, message) {
      if (nats.isClosed()) return false
      const chunks = chunksOf(message)
      const last = chunks.pop()
      for (const chunk of chunks) nats.publish(subjectOf(to), chunk)
      return nats.request(subjectOf(to), last, { timeout: receiptMs }).then(
        () => true,
        () => false,
      )
    },
    post: (to, message) => publish(subjectOf(to), message),
    broadcast: (message) => publish(everyone, message),
    isConnected,
    listen(next) {
      listener = next
    },
    close: () => nats.drain().catch(onError),
  }
}

/** The client itself connects again and again; this only follows how it stands. */
function watchConnection(nats: NatsConnection): () => boolean {
  let isConnected = true
  const follow = async (): Promise<void> => {
    for await (const { type } of nats.status()) {
      if (type === 'disconnect' || type === 'close') isConnected = false
      if (type === 'reconnect') isConnected = true
    }
  }
  void follow()
  return () => isConnected && !nats.isClosed()
}

export async function connectTo(url: string): Promise<NatsConnection> {
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
      // The client's defaults give up after ten tries, and notice a broken connection after four minutes.
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
