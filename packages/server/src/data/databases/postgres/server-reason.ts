// The reasons that a PostgreSQL server states, in words for the tenant whose database it is.
import { codeOf } from '../../../kernel/db/database-error.ts'
import { publicDatabaseMessage } from '../../../kernel/db/public-message.ts'

/** A class of SQL or of PostgreSQL, and no error of a socket such as EPIPE. */
const sqlState = /^(?:\d[\dA-Z]|F0|HV|P0|XX)[\dA-Z]{3}$/

/** Of a foreign table: what its user has to be given. */
const routineException = /^2F/

/** A server may send any text. */
const maxLength = 500

type Stated = Error & { readonly hint?: unknown; readonly detail?: unknown }

/**
 * Whose words may be repeated as they are. In the platform's database names tell of what belongs to others; an external server
 * belongs to the tenant. Details stay in the log: they may hold addresses.
 */
export function reasonOf(error: Stated, isExternal: boolean): string {
  if (!isExternal) return publicDatabaseMessage({ message: error.message, code: codeOf(error) })
  const advice = [routineException.test(codeOf(error)) ? error.detail : undefined, error.hint]
  const sentences = [error.message, ...advice].flatMap((text) =>
    typeof text === 'string' && text ? [firstLine(text)] : [],
  )
  return sentences.map((text) => text.replace(/[.:]?$/, '.')).join(' ')
}

const firstLine = (text: string): string => {
  const [line = ''] = text.split('\n', 1)
  return line.length <= maxLength ? line : `${line.slice(0, maxLength)}…`
}

/** Whether a server has said in SQL why it does not answer. */
export const isStated = (error: unknown): error is Stated => error instanceof Error && sqlState.test(codeOf(error))

/** The state of a table is the reason, not the question nor a passing fault: a materialized view without data, a foreign table without a password. */
export const isStateOfTable = (code: string): boolean => /^(55000|2F|HV|0A000)/.test(code)
