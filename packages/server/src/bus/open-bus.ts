import type { Bus } from './bus.ts'
import { createMemoryBus } from './memory-bus.ts'
import type { NatsOptions } from './nats-bus.ts'

/** The bus between replicas: NATS where its address is given, otherwise the memory of the only process. */
export async function openBus({
  url,
  ...options
}: Omit<NatsOptions, 'url'> & { url: string | undefined }): Promise<Bus> {
  if (!url) return createMemoryBus()
  const { createNatsBus } = await import('./nats-bus.ts')
  return createNatsBus({ url, ...options })
}
