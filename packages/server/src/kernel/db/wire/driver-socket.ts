import { Duplex } from 'node:stream'
import type { ConnectionOptions } from 'node:tls'
import { externalServerFault } from '../database-error.ts'

/** What pg expects of a socket, besides a stream: the same for one that is connected here and one in another thread. */
export abstract class DriverSocket extends Duplex {
  protected readonly tls: ConnectionOptions | false

  constructor(tls: ConnectionOptions | false) {
    super({ allowHalfOpen: false })
    this.tls = tls
  }

  abstract connect(port: number, host: string): this
  abstract ref(): this
  abstract unref(): this
  /** The rows of the next answer are streamed with back-pressure, so their sum has no limit. */
  abstract allowLongAnswer(): void

  /**
   * The last line: what passes the guard may still be something that the driver's handler of this statement does not know,
   * and what it throws would end the process.
   */
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event !== 'data') return super.emit(event, ...args)
    try {
      return super.emit(event, ...args)
    } catch (cause) {
      const fault = externalServerFault('The database server sent an answer that is not valid.')
      this.destroy(Object.assign(fault, { cause }))
      return true
    }
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'utf8' as BufferEncoding, done)
  }

  /** Set from the beginning. */
  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }
}
