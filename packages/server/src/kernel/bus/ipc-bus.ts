import { randomUUID } from 'node:crypto'
import type { Bus } from './bus.ts'

/** What a worker and its supervisor exchange for the bus. A message stays text on the way, so the supervisor parses none. */
export type Envelope =
  | { readonly k: 'join'; readonly id: string }
  | { readonly k: 'leave'; readonly id: string }
  /** Without `to` it is for all others; with `receipt` the sender waits for one. */
  | {
      readonly k: 'message'
      readonly from: string
      readonly to?: string
      readonly text: string
      readonly receipt?: number
    }
  | { readonly k: 'receipt'; readonly to: string; readonly receipt: number; readonly hasArrived: boolean }

/** The way to the supervisor. */
export type BusPort = {
  post(envelope: Envelope): void
  listen(listener: (envelope: Envelope) => void): void
}

/** Time-out for a receipt: the receiver may die in between. That there is no such replica the supervisor answers at once. */
const receiptMs = 2_000

/** The bus between the workers of one machine: messages go through their supervisor (`ipc-router.ts`). */
export function createIpcBus(port: BusPort): Bus {
  const id = randomUUID()
  const waiting = new Map<number, (hasArrived: boolean) => void>()
  let receipts = 0
  let listener: ((message: unknown, from: string) => void) | undefined

  port.listen((envelope) => {
    if (envelope.k === 'receipt') return waiting.get(envelope.receipt)?.(envelope.hasArrived)
    if (envelope.k !== 'message') return
    const { from, text, receipt } = envelope
    if (receipt !== undefined) port.post({ k: 'receipt', to: from, receipt, hasArrived: true })
    listener?.(JSON.parse(text), from)
  })
  port.post({ k: 'join', id })

  return {
    id,
    send(to, message) {
      const receipt = ++receipts
      return new Promise((resolve) => {
        const settle = (hasArrived: boolean): void => {
          clearTimeout(timer)
          waiting.delete(receipt)
          resolve(hasArrived)
        }
        const timer = setTimeout(settle, receiptMs, false)
        waiting.set(receipt, settle)
        port.post({ k: 'message', from: id, to, text: JSON.stringify(message), receipt })
      })
    },
    post: (to, message) => port.post({ k: 'message', from: id, to, text: JSON.stringify(message) }),
    broadcast: (message) => port.post({ k: 'message', from: id, text: JSON.stringify(message) }),
    isConnected: () => true,
    listen(next) {
      listener = next
    },
    async close() {
      port.post({ k: 'leave', id })
    },
  }
}
