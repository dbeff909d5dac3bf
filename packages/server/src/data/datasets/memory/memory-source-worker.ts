// The worker thread of memory-source-threads.ts.

import { lowerThreadPriority } from '../../../kernel/concurrency/priority.ts'
import { serveRequests } from '../../../kernel/concurrency/serve-requests.ts'
import { inspectAnswer, type MemoryJob, queryAnswer } from './memory-source-job.ts'

/** A job, and the most bytes of its batches that may be unread. */
export type MemoryTask = { readonly job: MemoryJob; readonly unreadBytes: number }

/** The JSON of cells or of the inferred attributes. The receiver acknowledges the bytes it has read. */
export type EncodedBatch = Uint8Array<ArrayBuffer>

lowerThreadPriority()
serveRequests<MemoryTask>(async ({ job, unreadBytes }, { notify, onMessage }) => {
  let unread = 0
  let onRead = (): void => {}
  onMessage((bytes) => {
    unread -= Number(bytes)
    onRead()
  })
  for (const batch of 'plan' in job ? queryAnswer(job) : [inspectAnswer(job)]) {
    while (unread > unreadBytes) await new Promise<void>((resolve) => (onRead = resolve))
    const bytes: EncodedBatch = new TextEncoder().encode(JSON.stringify(batch))
    unread += bytes.length
    notify(bytes, [bytes.buffer])
  }
})
