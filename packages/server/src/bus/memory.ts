import { randomUUID } from 'node:crypto'
import type { Bus } from './bus.ts'

/** The bus of a replica that is alone. */
export const createMemoryBus = (): Bus => ({
  id: randomUUID(),
  send: async () => false,
  post() {},
  broadcast() {},
  listen() {},
  async close() {},
})
