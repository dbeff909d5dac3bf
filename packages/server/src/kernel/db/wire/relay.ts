/**
 * Connections to external PostgreSQL servers, made by a thread of their own (relay-thread.ts). The thread checks every
 * byte; the main thread gets the messages that passed. A watchdog ends the thread when it stands still, and the next
 * connection starts a new one.
 */
import type { ConnectionOptions } from 'node:tls'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { createHeartbeat, watchThread } from '../../concurrency/thread-watchdog.ts'
import { externalServerFault } from '../database-error.ts'
import { DriverSocket } from './driver-socket.ts'
import type { FromRelay, ToRelay } from './relay-protocol.ts'

/** Checking a chunk takes milliseconds. */
const stalledMs = 5_000

type Thread = { readonly worker: Worker; readonly sockets: Set<RelayedSocket> }

let current: Thread | undefined

/** The socket of a connection to an external server, for pg's `stream`. */
export function relayedSocket(tls: ConnectionOptions | false): DriverSocket {
  current ??= startThread(() => {
    current = undefined
  })
  const { sockets, worker } = current
  const { port1, port2 } = new MessageChannel()
  worker.postMessage(port2, [port2])
  const socket = new RelayedSocket(port1, tls)
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
  return socket
}

function startThread(onGone: () => void): Thread {
  const heartbeat = createHeartbeat()
  const worker = new Worker(new URL('./relay-thread.ts', import.meta.url), {
    workerData: heartbeat,
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  })
  watchThread(worker, heartbeat, stalledMs)
  worker.unref()
  const thread: Thread = { worker, sockets: new Set() }
  const lose = (): void => {
    onGone()
    for (const socket of thread.sockets) socket.destroy(externalServerFault('The connection to the database was lost.'))
  }
  worker.once('error', lose)
  worker.once('exit', lose)
  return thread
}

class RelayedSocket extends DriverSocket {
  readonly #port: MessagePort
  #written: ((error?: Error | null) => void) | undefined
  #taken = 0

  constructor(port: MessagePort, tls: ConnectionOptions | false) {
    super(tls)
    this.#port = port
    port.on('message', (message: FromRelay) => this.#receive(message))
  }

  connect(port: number, host: string): this {
    this.#tell({ kind: 'connect', port, host, tls: this.tls })
    return this
  }

  #tell(message: ToRelay): void {
    this.#port.postMessage(message)
  }

  #receive(message: FromRelay): void {
    if (message.kind === 'connect') this.emit('connect')
    else if (message.kind === 'bytes') {
      this.#taken += message.bytes.byteLength
      const { buffer, byteOffset, byteLength } = message.bytes
      if (this.push(Buffer.from(buffer, byteOffset, byteLength))) this._read()
    } else if (message.kind === 'written') {
      const done = this.#written
      this.#written = undefined
      done?.()
    } else if (message.kind === 'end') this.push(null)
    else this.destroy(message.error && Object.assign(new Error(message.error.message), codeIn(message.error)))
  }

  allowLongAnswer(): void {
    this.#tell({ kind: 'longAnswer' })
  }

  override _read(): void {
    if (this.#taken === 0) return
    this.#tell({ kind: 'taken', count: this.#taken })
    this.#taken = 0
  }

  override _write(bytes: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#written = done
    const copy = new Uint8Array(bytes)
    this.#port.postMessage({ kind: 'bytes', bytes: copy } satisfies ToRelay, [copy.buffer])
  }

  override _final(done: () => void): void {
    this.#tell({ kind: 'end' })
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#tell({ kind: 'destroy' })
    this.#port.close()
    done(error)
  }

  ref(): this {
    this.#port.ref()
    return this
  }

  unref(): this {
    this.#port.unref()
    return this
  }
}

const codeIn = ({ code }: { code: string | undefined }): { code?: string } => (code === undefined ? {} : { code })
