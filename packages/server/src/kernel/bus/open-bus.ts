import type { Bus } from './bus.ts'
import { type BusPort, createIpcBus } from './ipc-bus.ts'
import { createMemoryBus } from './memory-bus.ts'
import type { NatsOptions } from './nats-bus.ts'

export type BusOptions = Omit<NatsOptions, 'url'> & {
  readonly url: string | undefined
  /** The way to the supervisor, in a server of several workers. */
  readonly port: BusPort | undefined
}

/** NATS where its address is given; else the supervisor between the workers of this machine; else there is nobody to reach. */
export async function openBus({ url, port, ...options }: BusOptions): Promise<Bus> {
  if (!url) return port ? createIpcBus(port) : createMemoryBus()
  const { createNatsBus } = await import('./nats-bus.ts')
  return createNatsBus({ url, ...options })
}
