import { once } from 'node:events'
import { type MessagePort, parentPort } from 'node:worker_threads'
import { ApiError } from '../errors.ts'
import { inspectAnswer, type Job, queryAnswer } from './memory-source-job.ts'

/** What goes to the thread with a job: where its batches go, and how much of them may lie there unread. */
export type Order = { readonly job: Job; readonly port: MessagePort; readonly unreadBytes: number }

/** A batch is the JSON of cells, or of the attributes that were found. */
export type Report = { readonly batch: Uint8Array } | { readonly isDone: true } | { readonly failure: Failure }

/** What is left of an error on its way between threads; only an ApiError has a code. */
export type Failure = Pick<ApiError, 'code' | 'message' | 'faults'> | { readonly message: string }

parentPort?.on('message', ({ job, port, unreadBytes }: Order) => carryOut(job, port, unreadBytes))

async function carryOut(job: Job, port: MessagePort, unreadBytes: number): Promise<void> {
  let unread = 0
  port.on('message', (bytes: number) => {
    unread -= bytes
  })
  const report = (message: Report, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer)
  try {
    for (const batch of 'plan' in job ? queryAnswer(job) : [inspectAnswer(job)]) {
      while (unread > unreadBytes) await once(port, 'message')
      const bytes = new TextEncoder().encode(JSON.stringify(batch))
      unread += bytes.length
      report({ batch: bytes }, [bytes.buffer])
    }
    report({ isDone: true })
  } catch (error) {
    report({ failure: failureOf(error) })
  }
  port.close()
}

function failureOf(error: unknown): Failure {
  if (error instanceof ApiError) return { code: error.code, message: error.message, faults: error.faults }
  return { message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}
