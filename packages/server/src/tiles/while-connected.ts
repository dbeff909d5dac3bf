import type { FastifyRequest } from 'fastify'

/** Does work whose signal is aborted when the client leaves. Nothing is watched until the signal is asked for. */
export async function whileConnected<T>(
  request: FastifyRequest,
  work: (leaving: () => AbortSignal) => Promise<T>,
): Promise<T> {
  const { socket } = request.raw
  const reader = new AbortController()
  const leave = (): void => reader.abort(new Error('The client has left'))
  try {
    return await work(() => {
      if (socket.destroyed) leave()
      socket.once('close', leave)
      return reader.signal
    })
  } finally {
    socket.off('close', leave)
  }
}
