import Type from 'typebox'

export const closed = { additionalProperties: false } as const
export const applicationIdSchema = Type.String({ format: 'uuid' })
/** Its strength is checked elsewhere. */
export const passwordSchema = Type.String({ minLength: 1, maxLength: 1_024 })
/** Any length, because every text that is not a valid token must be 401. */
export const refreshTokenSchema = Type.String()
export const urlSchema = Type.String({ minLength: 1, maxLength: 2_048 })
/** Tokens must not be cached. */
export const noStore = { 'cache-control': 'no-store' }
