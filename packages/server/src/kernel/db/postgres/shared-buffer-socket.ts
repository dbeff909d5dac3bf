import { Socket } from 'node:net'

/** As much as one read of a socket gives. */
const sharedBuffer = Buffer.allocUnsafeSlow(65_536)

/**
 * A socket that reads into one buffer, which all such sockets of a thread share: a buffer for each read is as much work as the rows of a
 * small answer, and has to be collected. What was read is gone with the next read of any of them.
 */
export class SharedBufferSocket extends Socket {
  /** The driver keeps what it is given. */
  #receive = (bytes: Buffer): void => void this.emit('data', Buffer.from(bytes))

  constructor() {
    super({
      onread: {
        buffer: sharedBuffer,
        callback: (size) => {
          this.#receive(size === sharedBuffer.length ? sharedBuffer : sharedBuffer.subarray(0, size))
          return true
        },
      },
    } as ConstructorParameters<typeof Socket>[0])
  }

  /** What arrives from here on is only handed to this function, which must not keep it. */
  receiveBy(receive: (bytes: Buffer) => void): void {
    this.#receive = receive
  }
}
