// A value that PostgreSQL cannot read in the type of the column that it is compared with.
import { codeOf } from '../../../kernel/db/database-error.ts'
import { publicDatabaseMessage } from '../../../kernel/db/public-message.ts'
import type { BoundNames } from '../../../kernel/db/sql.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { fault } from '../../../query/values/fault.ts'

const dataException = /^22/

/** The 400 that names the attribute; undefined for any other error. Servers before PostgreSQL 14 do not say which value it was. */
export function unreadValue(error: Error, names: BoundNames): ApiError | undefined {
  const where = 'where' in error ? String(error.where) : ''
  const [, number] = /portal parameter \$(\d+)/.exec(where) ?? []
  const name = number === undefined ? undefined : names[Number(number)]
  if (name === undefined || !dataException.test(codeOf(error))) return undefined
  const words = publicDatabaseMessage(error)
  const refusal = fault(
    `filter/${name}`,
    'invalid_value',
    `must be a value of its column's type. The database says: ${words}`,
  )
  return Object.assign(refusal, { cause: error })
}

/** Whether an error is such a 400. */
export const isUnreadValue = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'invalid_filter' && dataException.test(codeOf(error.cause))
