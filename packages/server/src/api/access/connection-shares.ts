// Fair shares of a process's connections.
import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { type MachineShare, partOf } from '../../kernel/concurrency/machine-share.ts'
import { overLimit } from '../../kernel/limits/limits.ts'
import type { Caller } from './acl.ts'

/** Notes that a request of this caller came over a connection, or throws 429. */
export type HoldConnection = (caller: Caller, socket: Socket, response: ServerResponse) => void

/** What one application may hold of all connections at most, so that there is always a place for the others. */
const largestShare = 3 / 4

type Options = {
  /** MAX_CONNECTIONS of this process. */
  readonly total: number
  /** For an application that has no number of its own. */
  readonly perApplication: number
  readonly share: MachineShare
}

/** An application, and how many connections are its own. */
type Holder = { count: number }

/**
 * Limits the connections of each application. Whose a connection is, its last request tells: a proxy sends those of many.
 * From half the limit on, connections are closed after their answer, so that those who wait for more requests do not hold
 * the places of requests that are under way. Streams and WebSockets hold theirs. Master keys are the operator's.
 */
export function createConnectionShares({ total, perApplication, share }: Options): HoldConnection {
  const largest = Math.max(1, Math.floor(total * largestShare))
  const holders = new Map<string, Holder>()
  const holderOf = new WeakMap<Socket, { id: string; holder: Holder }>()

  function leave(id: string, holder: Holder): void {
    if (--holder.count === 0) holders.delete(id)
  }

  /** Makes the connection one of this application. */
  function move(socket: Socket, id: string, most: number): Holder {
    const holder = holders.get(id) ?? { count: 0 }
    if (holder.count >= most) throw tooMany(most)
    const held = holderOf.get(socket)
    holder.count++
    holders.set(id, holder)
    if (held) {
      leave(held.id, held.holder)
      Object.assign(held, { id, holder })
      return holder
    }
    const own = { id, holder }
    holderOf.set(socket, own)
    socket.once('close', () => leave(own.id, own.holder))
    return holder
  }

  return ({ type, applicationId, connections }, socket, response) => {
    // Calls inside the process have no connection; one that has closed has told so already.
    if (type === 'master' || !(socket instanceof Socket) || socket.destroyed) return
    const most = Math.min(connections ? partOf(connections, share) : perApplication, largest)
    const held = holderOf.get(socket)
    try {
      const holder = held?.id === applicationId ? held.holder : move(socket, applicationId, most)
      if (holder.count > most / 2) response.shouldKeepAlive = false
    } catch (error) {
      response.shouldKeepAlive = false
      throw error
    }
  }
}

const tooMany = (most: number): Error =>
  overLimit(
    'applicationConnections',
    most,
    `This application already has ${most} connections open, its limit. Try again in a moment.`,
    { headers: { 'Retry-After': '1' } },
  )
