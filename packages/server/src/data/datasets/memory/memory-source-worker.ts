// The worker thread of memory-source-threads.ts.
import { serveRequests } from '../../../kernel/concurrency/serve-requests.ts'
import { stepBack } from '../../../kernel/concurrency/step-back.ts'
import { inspectAnswer, type Job, queryAnswer } from './memory-source-job.ts'

/** A job, and the most bytes of its batches that may be unread. */
export type Order = { readonly job: Job; readonly unreadBytes: number }

/** The JSON of cells or of the inferred attributes. The receiver acknowledges the bytes it has read. */
export type Batch = Uint8Array<ArrayBuffer>

stepBack()
serveRequests<Order>(async ({ job, unreadBytes }, { notify, onMessage }) => {
  let unread = 0
  let onRead = (): void => {}
  onMessage((bytes) => {
    unread -= Number(bytes)
    onRead()
  })
  for (const batch of 'plan' in job ? queryAnswer(job) : [inspectAnswer(job)]) {
    while (unread > unreadBytes) await new Promise<void>((resolve) => (onRead = resolve))
    const bytes: Batch = new TextEncoder().encode(JSON.stringify(batch))
    unread += bytes.length
    notify(bytes, [bytes.buffer])
  }
})
