// How much more CPU time something may take on this machine than on the one whose limits the tests know.

import type { MeteredServer } from '../processes/metered-server.ts'
import { send } from './hostile-client.ts'
import { allowedRoom, shapes } from './largest-values.ts'

/** On a machine on which `parsedMs` is at most this. Others, and this one beside busy neighbours, are given as much more as they need. */
const usualParsedMs = 25
/** CPU time grows by this where other processes use the same cores and their caches, as in a run of all tests. */
const sharedCores = 2.5

/** By what the usual CPU time is multiplied. */
export const cpuSlack = (): number => Math.max(sharedCores, parsedMs() / usualParsedMs)

/** The CPU time that this machine takes now for the largest body that is parsed at all. */
function parsedMs(): number {
  const text = shapes.shortTexts(allowedRoom(1_048_576))
  const times = Array.from({ length: 5 }, () => {
    const begun = process.cpuUsage()
    JSON.parse(text)
    const { user, system } = process.cpuUsage(begun)
    return (user + system) / 1000
  })
  return Math.min(...times)
}

const bareBody = 'x'.repeat(8 * 1_048_576)

/** The CPU time of Node for each byte of a body that a bare server in the same process receives and discards: the most that was seen. */
export function receivingCost(server: MeteredServer) {
  let most = 0
  return {
    ms: (bytes: number): number => most * bytes,
    async look(): Promise<void> {
      const { cpuMs } = await server.measure(() => send(server.bareUrl, 'POST', '/', { body: bareBody }))
      most = Math.max(most, cpuMs / bareBody.length)
    },
  }
}
