import { Session } from 'node:inspector/promises'

/**
 * Evaluates an expression in a worker thread that is busy, and resolves with its value: the inspector interrupts even
 * compiled code, which reads no messages while it runs. No port is opened. Undefined when the thread has ended.
 */
export async function evaluateInBusyThread(threadId: number, expression: string): Promise<unknown> {
  const session = new Session()
  session.connect()
  try {
    const worker = await attach(session, threadId)
    return worker === undefined ? undefined : await evaluate(session, worker, expression)
  } finally {
    session.disconnect()
  }
}

/** The inspector numbers threads in its own way; the title has Node's number. */
async function attach(session: Session, threadId: number): Promise<string | undefined> {
  let match: string | undefined
  session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
    if (workerInfo.title.startsWith(`[worker ${threadId}]`)) match = sessionId
  })
  // All threads have been told of when this is answered.
  await session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
  return match
}

async function evaluate(session: Session, sessionId: string, expression: string): Promise<unknown> {
  const answer = Promise.withResolvers<unknown>()
  const detached = Promise.withResolvers<undefined>()
  session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
    if (params.sessionId === sessionId) answer.resolve(JSON.parse(params.message).result?.result?.value)
  })
  session.on('NodeWorker.detachedFromWorker', ({ params }) => {
    if (params.sessionId === sessionId) detached.resolve(undefined)
  })
  const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression, returnByValue: true } })
  await session.post('NodeWorker.sendMessageToWorker', { sessionId, message })
  return await Promise.race([answer.promise, detached.promise])
}
