/**
 * A connection to an external PostgreSQL server, in the shape that pg expects of a socket. TCP and TLS are negotiated here,
 * and what the server says passes the guard of backend-guard.ts, so that pg sees only well-formed messages.
 */
import { connect, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { externalServerFault } from '../database-error.ts'
import { type BackendGuard, createBackendGuard } from './backend-guard.ts'
import { DriverSocket } from './driver-socket.ts'
import type { MessageMemory } from './message-framer.ts'

const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
const sslAccepted = 'S'.charCodeAt(0)
const sslRefused = 'N'.charCodeAt(0)
/** TCP, TLS and its negotiation together; the login has a timeout of its own. */
const connectTimeoutMs = 3_000
/** A server that has heard the goodbye closes at once; one that does not would keep the file descriptor. */
const lingerMs = 1_000
/** While a statement runs. A query has its own timeout; an index that is built on a large table says nothing for long. */
const silenceMs = 15 * 60_000

export class GuardedSocket extends DriverSocket {
  readonly #guard: BackendGuard
  #socket: Socket | undefined

  constructor(tls: ConnectionOptions | false, memory: MessageMemory) {
    super(tls)
    this.#guard = createBackendGuard(memory)
  }

  connect(port: number, host: string): this {
    const socket = connect({ port, host, noDelay: true, keepAlive: true, keepAliveInitialDelay: 10_000 })
    this.#socket = socket
    const timer = setTimeout(() => this.destroy(new Error('timeout expired')), connectTimeoutMs)
    const fail = (error: Error): void => void this.destroy(error)
    const isConnected = (ready: Socket): void => {
      clearTimeout(timer)
      socket.off('error', fail)
      this.#attach(ready)
      this.emit('connect')
    }
    this.once('close', () => clearTimeout(timer))
    socket.once('error', fail)
    socket.once('connect', () => {
      if (this.tls === false) isConnected(socket)
      else this.#negotiate(socket, this.tls, host, isConnected)
    })
    return this
  }

  /** The answer to SSLRequest is one byte. What comes with it came before TLS and may be anybody's (CVE-2021-23222). */
  #negotiate(socket: Socket, options: ConnectionOptions, host: string, then: (secure: Socket) => void): void {
    socket.once('data', (answer) => {
      socket.pause()
      if (answer[0] === sslRefused) return this.destroy(new Error('The server does not support SSL connections'))
      if (answer.length !== 1 || answer[0] !== sslAccepted) {
        return this.destroy(new Error('There was an error establishing an SSL connection'))
      }
      const secure = connectTls({ socket, host, ...options })
      this.#socket = secure
      secure.once('error', (error) => this.destroy(error))
      secure.once('secureConnect', () => then(secure))
    })
    socket.once('end', () => this.destroy(new Error('There was an error establishing an SSL connection')))
    socket.write(sslRequest)
  }

  #attach(socket: Socket): void {
    socket.on('data', (chunk: Buffer) => {
      try {
        let isWanted = true
        for (const piece of this.#guard.received(chunk)) isWanted = this.push(piece)
        if (!isWanted) socket.pause()
      } catch (error) {
        this.destroy(error as Error)
      }
    })
    socket.setTimeout(silenceMs, () => {
      if (this.#guard.isBusy) this.destroy(externalServerFault('The database server did not answer in time.'))
    })
    socket.on('error', (error) => this.destroy(error))
    socket.once('end', () => this.push(null))
    socket.once('close', () => this.destroy())
  }

  allowLongAnswer(): void {
    this.#guard.allowLongAnswer()
  }

  override _read(): void {
    this.#socket?.resume()
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#guard.sent(chunk)
    this.#socket?.write(chunk, done)
  }

  override _final(done: () => void): void {
    this.#socket?.end()
    setTimeout(() => this.destroy(), lingerMs).unref()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#guard.close()
    this.#socket?.destroy()
    done(error)
  }

  ref(): this {
    this.#socket?.ref()
    return this
  }

  unref(): this {
    this.#socket?.unref()
    return this
  }
}
