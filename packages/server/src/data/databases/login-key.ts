// Which database a record leads to, and as whom. Whoever asks only which server it is takes `serverKey` of its driver.
import type { DatabaseRecord } from './driver.ts'

/** A password is sealed for these fields: moved to a record with others it does not open. */
export const loginFields = ['type', 'host', 'port', 'user', 'db'] as const

export type DatabaseLogin = Pick<DatabaseRecord, (typeof loginFields)[number]>

const valuesOf = (login: Partial<Record<keyof DatabaseLogin, unknown>>): unknown[] =>
  loginFields.map((name) => login[name])

/** Equal for records that lead to the same database as the same user. It is stored with uploaded tables, so its form stays. */
export const loginKey = (login: DatabaseLogin): string => JSON.stringify(valuesOf(login))

/** What a password is sealed for. */
export const passwordAssociatedData = (
  applicationId: string,
  login: Partial<Record<keyof DatabaseLogin, unknown>>,
): string => JSON.stringify(['databases.password', applicationId, ...valuesOf(login)])
