import Type from 'typebox'

export const closed = { additionalProperties: false } as const
export const applicationIdSchema = Type.String({ format: 'uuid' })
/** Whether it is a good one is a matter of its own. */
export const passwordSchema = Type.String({ minLength: 1, maxLength: 1_024 })
/** Any text that is no live token is 401, whatever its length. */
export const refreshTokenSchema = Type.String()
export const urlSchema = Type.String({ minLength: 1, maxLength: 2_048 })
/** Tokens are not for anybody's cache. */
export const noStore = { 'cache-control': 'no-store' }
