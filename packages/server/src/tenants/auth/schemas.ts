import Type from 'typebox'
import { uuidText } from '../../api/http/input/bounded-schemas.ts'

export const closed = { additionalProperties: false } as const
export const applicationIdSchema = uuidText()
/** Its strength is checked elsewhere. */
export const passwordSchema = Type.String({ minLength: 1, maxLength: 1_024 })
/** As long as a body without a key can be, because every text that is not a valid token must be 401. */
export const refreshTokenSchema = Type.String({ maxLength: 16_384 })
/** Six digits of an authenticator app, or a recovery code. */
export const codeSchema = Type.String({ minLength: 6, maxLength: 64 })
export const urlSchema = Type.String({ minLength: 1, maxLength: 2_048 })
/** Tokens must not be cached. */
export const noStore = { 'cache-control': 'no-store' }
