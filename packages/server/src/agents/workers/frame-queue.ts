import type { WebSocket } from 'ws'
import { queueForLoop } from '../../kernel/concurrency/event-loop-queue.ts'

/** What takes less than a millisecond to parse. */
const shortBytes = 16_384

/**
 * Hands the frames of one worker on in their order; undefined stands for a binary one. Short frames go at once; a long one waits
 * for a turn of the event loop of its own, and those behind it with it, while nothing more is taken from the socket: a worker may
 * send as many long frames as it likes, and so may each of its siblings. Returns a function that ends it.
 */
export function readFrames(
  socket: Pick<WebSocket, 'pause' | 'resume' | 'on' | 'removeAllListeners'>,
  read: (frame: Buffer | undefined) => void,
): () => void {
  const waiting: (Buffer | undefined)[] = []
  function readNext(): void {
    if (waiting.length > 0) read(waiting.shift())
    if (waiting.length > 0) queueForLoop(readNext)
    else socket.resume()
  }
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    const frame = isBinary ? undefined : data
    if (waiting.length === 0 && data.length <= shortBytes) return read(frame)
    if (waiting.push(frame) > 1) return
    socket.pause()
    queueForLoop(readNext)
  })
  return () => {
    socket.removeAllListeners('message')
    waiting.splice(0)
  }
}
