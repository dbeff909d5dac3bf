/** What is counted for each application. The answers, the metrics and the columns of `svc.usage` follow this table. */
export const counters = {
  requests: { column: 'requests', description: 'Requests with a key or token of the application' },
  refused: { column: 'refused', description: 'Those of them that were over a limit: 413 and 429' },
  bytesOut: { column: 'bytes_out', description: 'Bytes of their answers, as sent, with headers' },
  tilesCached: { column: 'tiles_cached', description: 'Tiles from memory' },
  tilesMade: { column: 'tiles_made', description: 'Tiles that had to be made, or read from an archive' },
  tileSeconds: { column: 'tile_seconds', description: 'Seconds that making them took' },
  queries: { column: 'queries', description: 'Queries of datasets, exports and statistics' },
  querySeconds: { column: 'query_seconds', description: 'Seconds that they ran or were read' },
  uploads: { column: 'uploads', description: 'Files that were taken' },
  invocations: { column: 'invocations', description: 'Invocations of agents that ended' },
  messages: { column: 'messages', description: 'Messages that contact points delivered' },
  mails: { column: 'mails', description: 'Mails of the application that were delivered' },
} as const satisfies Record<string, { column: string; description: string }>

export type Counter = keyof typeof counters
export type Counts = Record<Counter, number>

export const counterNames = Object.keys(counters) as readonly Counter[]

export const noCounts = (): Counts => Object.fromEntries(counterNames.map((name) => [name, 0])) as Counts
