import type { Figures } from '../../kernel/concurrency/figures-exchange.ts'
import { addEnded } from './figures.ts'
import type { SupervisorMessage, WorkerMessage } from './messages.ts'

/** Collects the figures of all workers for the one that was asked for them. */
export type FiguresCollector = {
  add(workerId: number, send: Send): void
  receive(workerId: number, message: Extract<WorkerMessage, { k: 'collect' | 'figures' }>): void
  remove(workerId: number): void
}

type Send = (message: SupervisorMessage) => void
type Member = { readonly send: Send; figures: Figures; isAsked: boolean }

/** A worker that does not answer for so long is busy: its last figures stand for it. */
const answerTimeoutMs = 2_000

export function createFiguresCollector(): FiguresCollector {
  const members = new Map<number, Member>()
  let ended: Figures = []
  let hasBegun = false
  let waiting: { reply(): void; timer: NodeJS.Timeout }[] = []

  function ask(member: Member): void {
    member.isAsked = true
    member.send({ k: 'read' })
  }

  function collect(send: Send, id: number): void {
    hasBegun = true
    const reply = (): void => {
      clearTimeout(one.timer)
      waiting = waiting.filter((other) => other !== one)
      send({ k: 'collected', id, all: [ended, ...Array.from(members.values(), ({ figures }) => figures)] })
    }
    const one = { reply, timer: setTimeout(reply, answerTimeoutMs) }
    waiting.push(one)
    for (const member of members.values()) ask(member)
  }

  function replyIfComplete(): void {
    if (members.values().some(({ isAsked }) => isAsked)) return
    for (const { reply } of waiting) reply()
  }

  return {
    add(workerId, send) {
      const member = { send, figures: [], isAsked: false }
      members.set(workerId, member)
      // It counts from its start, if anybody looks at the figures.
      if (hasBegun) member.send({ k: 'read' })
    },
    receive(workerId, message) {
      const member = members.get(workerId)
      if (!member) return
      if (message.k === 'collect') return collect(member.send, message.id)
      member.figures = message.figures
      member.isAsked = false
      replyIfComplete()
    },
    remove(workerId) {
      ended = addEnded(ended, members.get(workerId)?.figures ?? [])
      members.delete(workerId)
      replyIfComplete()
    },
  }
}
