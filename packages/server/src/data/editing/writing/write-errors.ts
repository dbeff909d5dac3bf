// What an error of the database means to whoever wrote rows: their value, another's row, or a database that fails.

import { codeOf } from '../../../kernel/db/database-error.ts'
import { queryTimeout } from '../../../kernel/db/guarded.ts'
import { ApiError, type ErrorCode } from '../../../kernel/errors.ts'
import { blameExternalServer, explain } from '../../databases/postgres/server-errors.ts'
import { reasonOf } from '../../databases/postgres/server-reason.ts'

type DatabaseError = Error & { detail?: unknown; constraint?: unknown; column?: unknown }

const constraintOf = ({ constraint }: DatabaseError): string => (constraint ? ` (${String(constraint)})` : '')
const detailOf = ({ detail, message }: DatabaseError): string => String(detail ?? message).slice(0, 300)

type Words = readonly [code: ErrorCode, words: (error: DatabaseError) => string]

/** A statement of ours names a column that is gone, or takes it for another type. */
const changedColumns: Words = [
  'conflict',
  () => 'The columns of the table were changed meanwhile. Nothing was written; try again.',
]

/** Without the name of a constraint there is no partition for the row, or a trigger refuses it: the message says why. */
function checkWords(error: DatabaseError): string {
  if (error.constraint) return `A check of the table is not fulfilled${constraintOf(error)}.`
  return `The database says: ${error.message.slice(0, 300)}`
}

/** By SQLSTATE. The details name keys and values that the writer sent. */
const wordsByCode: Readonly<Record<string, Words>> = {
  '23505': [
    'conflict',
    (error) =>
      `A row with the same key exists${constraintOf(error)}. onConflict=ignore keeps it, onConflict=update changes it.`,
  ],
  '23503': ['conflict', (error) => `The database says: ${detailOf(error)}${constraintOf(error)}`],
  '23P01': ['conflict', (error) => `The row excludes another one${constraintOf(error)}.`],
  '23514': ['invalid_request', checkWords],
  '23502': ['invalid_request', ({ column }) => `The column ${JSON.stringify(String(column ?? ''))} must not be null.`],
  '55P03': ['conflict', () => 'Another writer holds the rows. Nothing was changed; try again.'],
  '42501': ['conflict', () => 'The user of the database may not write this.'],
  '25006': ['conflict', () => 'The database is read-only.'],
  '42P01': ['conflict', () => 'The table of this dataset does not exist any more.'],
  ...Object.fromEntries(['42703', '42883', '42804'].map((code) => [code, changedColumns])),
}

const nothingAdded = 'Nothing was added.'

/**
 * To whoever may only add rows: no name of a constraint or of another table, and no value. That a unique value is taken cannot be
 * hidden, because the row is refused.
 */
const knownToAppenders: typeof wordsByCode = {
  '23505': ['conflict', () => `A row with the same key or unique value exists. ${nothingAdded}`],
  '23503': ['conflict', () => `A value refers to a row that does not exist. ${nothingAdded}`],
  '23P01': ['conflict', () => `The row excludes another one. ${nothingAdded}`],
  '23514': ['invalid_request', () => `A check of the table is not fulfilled. ${nothingAdded}`],
  '23502': ['invalid_request', () => `A column that takes no null has no value. ${nothingAdded}`],
}

function wordsOf(code: string, isAppendOnly: boolean): Words | undefined {
  const words = new Map(Object.entries(isAppendOnly ? { ...wordsByCode, ...knownToAppenders } : wordsByCode))
  return words.get(code)
}

const cancelled = '57014'
/** The right to a table, to some of its columns or, by a policy, to some of its rows: only the server knows which. */
const reasonOfRight = (error: Error): string =>
  codeOf(error) === '42501' ? ` The database says: ${reasonOf(error, true)}` : ''

type Writer = { readonly isPlatform: boolean; readonly isAppendOnly?: boolean }

/** The error in words of ours, if it needs any. */
function inOurWords(error: Error, { isPlatform, isAppendOnly = false }: Writer): ApiError | undefined {
  const [answer, words] = wordsOf(codeOf(error), isAppendOnly) ?? []
  if (!answer || !words) return undefined
  const reason = isPlatform || isAppendOnly ? '' : reasonOfRight(error)
  return new ApiError(answer, `${words(error)}${reason}`, { cause: error })
}

/** A handler for `catch`. Errors that need no words of ours are explained as those of queries are. */
export const explainWrite =
  (writer: Writer) =>
  (error: unknown): never => {
    if (!(error instanceof Error) || error instanceof ApiError) throw error
    if (codeOf(error) === cancelled) throw queryTimeout(error, writeTimeoutMs)
    const explained = inOurWords(error, writer)
    if (explained) throw explained
    if (writer.isPlatform) return explain(error)
    try {
      return explain(error, true)
    } catch (external) {
      return blameExternalServer(external)
    }
  }

export const writeTimeoutMs = 30_000

export const isDuplicateKey = (error: unknown): boolean => error instanceof ApiError && codeOf(error.cause) === '23505'
