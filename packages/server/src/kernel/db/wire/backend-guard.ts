/**
 * Frames and bounds the bytes of an external PostgreSQL server before pg's parser sees them.
 *
 * A tenant chooses the server, so every byte of it is hostile. pg's parser trusts lengths, counts and terminators: a
 * DataRow without a count throws outside of any promise, an ErrorResponse without its last zero loops for ever, and a
 * message is buffered however large it says it is. Here each message is checked against the protocol, its size against
 * a limit, and its kind against what was asked for. What passes is well-formed and solicited; anything else is a fault.
 */
import { backendCode, checkMessage, isKnown, must } from './backend-messages.ts'
import { createFrontendTracker } from './frontend-tracker.ts'
import { createMessageFramer, type MessageFramer, type MessageMemory } from './message-framer.ts'

const wireLimits = {
  /** One row of an answer. */
  rowBytes: 32 << 20,
  /** Any other message. */
  messageBytes: 1 << 20,
  /** All messages until the server is ready for the first statement. */
  loginBytes: 64 << 10,
  /** The rows of an answer that is collected, not streamed. */
  answerBytes: 16 << 20,
  /** Messages of a statement that are no rows. */
  controlMessages: 1_000,
} as const

/** What a length says that counts nothing but itself. */
const emptyLength = 4
/** Allowed at any time, and of no use to us once we are logged in. */
const asynchronous = new Set<number>([
  backendCode.noticeResponse,
  backendCode.notification,
  backendCode.parameterStatus,
])
const { authentication, backendKeyData, copyInResponse, dataRow, errorResponse, readyForQuery, rowDescription } =
  backendCode

export type BackendGuard = MessageFramer & {
  /** What the client is about to send: it decides what the server may answer. */
  sent(chunk: Uint8Array): void
  /** The rows of the next answer are streamed with back-pressure, so their sum has no limit. */
  allowLongAnswer(): void
  /** A login or a statement is under way. */
  readonly isBusy: boolean
}

export function createBackendGuard(memory: MessageMemory): BackendGuard {
  const frontend = createFrontendTracker()
  const answer = createAnswerBudget()
  let hasLoggedIn = false
  let loginBytes = 0

  function checkHeader(code: number, length: number): void {
    must(isKnown(code), `a message of the unknown kind ${code}`)
    must(length >= emptyLength, `a message of ${length} bytes`)
    const limit = code === dataRow ? wireLimits.rowBytes : wireLimits.messageBytes
    must(length <= limit, `a ${code === dataRow ? 'row' : 'message'} of ${length} bytes; the limit is ${limit}`)
    if (hasLoggedIn) return
    loginBytes += 1 + length
    must(loginBytes <= wireLimits.loginBytes, `more than ${wireLimits.loginBytes} bytes before the login was complete`)
  }

  function ready(): void {
    if (hasLoggedIn) must(frontend.answered(), 'an answer although no statement was sent')
    hasLoggedIn = true
    answer.end(!frontend.isWaiting)
  }

  function checkTime(code: number): void {
    // A server that is shut down says so to those who asked nothing.
    if (code === errorResponse) return
    const isLogin = code === authentication || code === backendKeyData
    must(isLogin ? !hasLoggedIn : hasLoggedIn && frontend.isWaiting, 'a message at the wrong time')
    if (code === copyInResponse) must(frontend.isCopying, 'a request for COPY data although no COPY was sent')
    if (code === rowDescription || code === dataRow) must(!frontend.isCopying, 'rows in answer to a COPY')
  }

  const framer = createMessageFramer(
    {
      checkHeader,
      admit(code, bytes, start, end) {
        checkMessage(code, bytes, start, end)
        if (code === readyForQuery) {
          ready()
          return true
        }
        answer.count(code, bytes, start, end)
        if (asynchronous.has(code)) return !hasLoggedIn
        checkTime(code)
        return true
      },
    },
    memory,
  )

  return {
    ...framer,
    sent: frontend.sent,
    allowLongAnswer: answer.allowLong,
    get isBusy() {
      return !hasLoggedIn || frontend.isWaiting
    },
  }
}

/** What an answer may hold: rows that fit its columns, and not too much of anything that is kept in memory. */
function createAnswerBudget() {
  let rowBytes = 0
  let controlMessages = 0
  let isLong = false
  let columns: number | undefined
  return {
    count(code: number, bytes: Buffer, start: number, end: number): void {
      if (code !== dataRow) {
        must(++controlMessages <= wireLimits.controlMessages, 'too many messages for one statement')
        if (code === rowDescription) columns = bytes.readInt16BE(start)
        return
      }
      const count = bytes.readInt16BE(start)
      must(columns === undefined || count === columns, `a row of ${count} values for ${columns} columns`)
      rowBytes += end - start
      must(isLong || rowBytes <= wireLimits.answerBytes, `more than ${wireLimits.answerBytes} bytes of rows`)
    },
    allowLong(): void {
      isLong = true
    },
    end(isLast: boolean): void {
      rowBytes = 0
      controlMessages = 0
      columns = undefined
      if (isLast) isLong = false
    },
  }
}
