import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { keepBeating } from '../../concurrency/thread-watchdog.ts'
import { GuardedSocket } from './guarded-socket.ts'
import { createMessageMemory } from './message-framer.ts'
import { type FromRelay, type ToRelay, windowBytes } from './relay-protocol.ts'

/**
 * The thread that talks to external database servers, so that a hostile one cannot block the main thread. A watchdog in
 * relay.ts ends and replaces this thread when its heartbeat stops.
 */
keepBeating(workerData)
const memory = createMessageMemory()
parentPort?.on('message', serve)

function serve(port: MessagePort): void {
  const tell = (message: FromRelay): void => port.postMessage(message)
  let socket: GuardedSocket | undefined
  let onTheirWay = 0

  function open({ host, port: number, tls }: Extract<ToRelay, { kind: 'connect' }>): GuardedSocket {
    const opened = new GuardedSocket(tls, memory)
    let failure: Error | undefined
    opened.on('error', (error) => {
      failure = error
    })
    opened.on('connect', () => tell({ kind: 'connect' }))
    opened.on('data', (bytes: Buffer) => {
      onTheirWay += bytes.length
      if (onTheirWay >= windowBytes) opened.pause()
      // A view would take the whole buffer of the network along.
      const copy = new Uint8Array(bytes)
      port.postMessage({ kind: 'bytes', bytes: copy } satisfies FromRelay, [copy.buffer])
    })
    opened.on('end', () => tell({ kind: 'end' }))
    opened.on('close', () => {
      tell({ kind: 'close', ...(failure && { error: { message: failure.message, code: codeOf(failure) } }) })
      port.close()
    })
    return opened.connect(number, host)
  }

  port.on('message', (message: ToRelay) => {
    if (message.kind === 'connect') socket = open(message)
    else if (message.kind === 'bytes') socket?.write(message.bytes, (error) => !error && tell({ kind: 'written' }))
    else if (message.kind === 'longAnswer') socket?.allowLongAnswer()
    else if (message.kind === 'end') socket?.end()
    else if (message.kind === 'destroy') socket?.destroy()
    else {
      onTheirWay -= message.count
      if (onTheirWay < windowBytes) socket?.resume()
    }
  })
  // The other end is gone.
  port.on('close', () => socket?.destroy())
}

const codeOf = (error: Error): string | undefined => ('code' in error ? String(error.code) : undefined)
