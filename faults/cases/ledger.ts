import type { Random } from '../../packages/server/testing/uploads/random.ts'
import { expect } from '../fault.ts'
import { type Answer, type Call, call } from '../http.ts'
import { masterKey } from '../server.ts'

type Entry = {
  /** The last value that was acknowledged. */
  acknowledged: number
  /** The last value that was sent. */
  sent: number
  isDeleted: boolean
  /** The deletion was sent; whether it was carried out is known only with its answer. */
  isDeletionSent: boolean
}

/**
 * Writes that clients were promised: records that are made, changed and deleted. After a crash each must be there as it was last
 * acknowledged, or as any write since then would have made it: one whose answer was lost may have been carried out.
 */
export function createLedger(random: Random) {
  const entries = new Map<string, Entry>()
  let failures = 0
  let acknowledged = 0

  const send = async (url: string, method: string, path: string, options: Call = {}): Promise<Answer | undefined> => {
    const answer = await call(url, method, path, { key: masterKey, ...options }).catch(() => undefined)
    if (answer && answer.status < 300) acknowledged++
    else failures++
    return answer && answer.status < 300 ? answer : undefined
  }

  async function create(url: string): Promise<void> {
    const body = { name: 'ledger', style: { version: 8, sources: {}, layers: [] }, metadata: { value: 1 } }
    const answer = await send(url, 'POST', '/api/v1/styles', { body })
    if (answer) entries.set(answer.body.id, { acknowledged: 1, sent: 1, isDeleted: false, isDeletionSent: false })
  }

  async function change(url: string, id: string, entry: Entry): Promise<void> {
    entry.sent++
    const value = entry.sent
    const answer = await send(url, 'PATCH', `/api/v1/styles/${id}`, { body: { metadata: { value } } })
    if (answer) entry.acknowledged = value
  }

  async function remove(url: string, id: string, entry: Entry): Promise<void> {
    entry.isDeletionSent = true
    if (await send(url, 'DELETE', `/api/v1/styles/${id}`)) entry.isDeleted = true
  }

  /** Of the entries of one client: two may not write to one entry at the same time. */
  const busy = new Set<string>()
  return {
    counts: () => ({ acknowledged, failures, records: entries.size }),
    /** One write; its outcome is in the ledger. */
    async write(url: string): Promise<void> {
      const free = [...entries].filter(([id, entry]) => !entry.isDeletionSent && !busy.has(id))
      const [id, entry] = free[Math.floor(random() * free.length)] ?? []
      const what = random()
      if (!id || !entry || what < 0.5) return create(url)
      busy.add(id)
      await (what < 0.9 ? change(url, id, entry) : remove(url, id, entry))
      busy.delete(id)
    },
    /** Throws when something that was acknowledged is not there, or half there. */
    async check(url: string): Promise<void> {
      for (const [id, entry] of entries) {
        const { status, body } = await call(url, 'GET', `/api/v1/styles/${id}`, { key: masterKey })
        if (entry.isDeleted) expect(status === 404, () => `${id} was deleted, and is back: ${status}`)
        else if (!entry.isDeletionSent || status !== 404) {
          expect(status === 200, () => `${id} was acknowledged, and is lost: ${status}`)
          const { value } = body.metadata
          const isOne = value >= entry.acknowledged && value <= entry.sent
          expect(isOne, () => `${id} is ${value}, acknowledged was ${entry.acknowledged}, sent ${entry.sent}`)
          entry.acknowledged = value
        }
        if (status === 404) Object.assign(entry, { isDeleted: true, isDeletionSent: true })
      }
    },
  }
}
