/** A server in a process of its own whose CPU time, turns of the event loop and memory a test can read. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { unoptimized } from '../command-line.ts'
import type { CpuReading } from './cpu-meter.ts'
import type { Greeting } from './metered-server-process.ts'

const script = fileURLToPath(new URL('./metered-server-process.ts', import.meta.url))

/** No key or application is refused for the number of its requests. */
const unlimited = { REQUESTS_PER_SECOND: '1000000' }

export type MeteredServer = Awaited<ReturnType<typeof startMeteredServer>>

export async function startMeteredServer(settings: Record<string, string> = {}) {
  const child = fork(script, [JSON.stringify({ ...unlimited, ...settings })], { execArgv: unoptimized })
  let answer = Promise.withResolvers<unknown>()
  child.on('message', (message) => answer.resolve(message))
  child.on('exit', (code) => answer.reject(new Error(`The server ended with ${code}`)))
  const reply = async <T>(): Promise<T> => {
    const message = await answer.promise
    answer = Promise.withResolvers()
    return message as T
  }
  const ask = (what: 'begin' | 'read'): Promise<CpuReading> => {
    child.send(what)
    return reply<CpuReading>()
  }
  const { url, bareUrl, names } = await reply<Greeting>()
  const known = new Map(names)
  return {
    url,
    bareUrl,
    /** The id, key or address that this name of the pool stands for. */
    named(name: string): string {
      const value = known.get(name)
      if (value === undefined) throw new Error(`The pool has no ${name}`)
      return value
    },
    /** What the server took while the work was done. */
    async measure<T>(work: () => Promise<T>): Promise<CpuReading & { readonly result: T }> {
      await ask('begin')
      const result = await work()
      return { ...(await ask('read')), result }
    },
    async close(): Promise<void> {
      const exit = once(child, 'exit')
      answer.promise.catch(() => undefined)
      child.disconnect()
      await exit
    },
  }
}
