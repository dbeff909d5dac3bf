/** Helpers for users: state label, search filter and the reset link. */
import type { User } from '@graticule/client'
import { resetPageUrl } from '../../../session/account-links.ts'

export const pageSize = 50

/** Searches address and name for the text. */
export function userFilter(search: string): Record<string, unknown> | undefined {
  const text = search.trim()
  if (text === '') return undefined
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`
  return { $or: ['email', 'firstName', 'lastName'].map((field) => ({ [field]: { $iLike: pattern } })) }
}

interface UserState {
  kind: 'ok' | 'warn' | 'off'
  label: string
}

export function stateOf({ enabled, emailVerified, passwordResetToken }: User): UserState {
  if (!enabled) return { kind: 'off', label: 'disabled' }
  if (emailVerified) return { kind: 'ok', label: 'active' }
  return { kind: 'warn', label: passwordResetToken === '' ? 'address not confirmed' : 'invited' }
}

export const nameOf = ({ firstName, lastName }: Pick<User, 'firstName' | 'lastName'>): string =>
  `${firstName} ${lastName}`.trim()

/** The link in the mail, to send it in another way. */
export const resetLink = ({ applicationId, passwordResetToken, email }: User): string =>
  `${resetPageUrl(applicationId)}&${new URLSearchParams({ token: passwordResetToken, email })}`
