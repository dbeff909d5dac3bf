// The second factor of a user: codes of an authenticator app, and recovery codes for when that is lost.
import type { Secrets } from '../../api/access/secrets/secrets.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type Account, findSettings, refused } from './accounts.ts'
import { readCode, stepOf } from './authenticator-codes.ts'

const associatedData = (userId: number): string => `users.code_secret.${userId}`

export const sealCodeSecret = (secrets: Secrets, userId: number, secret: Buffer): string =>
  secrets.seal(secret.toString('hex'), associatedData(userId))

export const openCodeSecret = (secrets: Secrets, userId: number, sealed: string): Buffer =>
  Buffer.from(secrets.open(sealed, associatedData(userId)), 'hex')

/** With the server's secret: a copy of the database does not tell the codes. */
export const recoveryDigest = (secrets: Secrets, userId: number, code: string): string =>
  secrets.authenticate('recovery code', `${userId} ${readCode(code)}`)

type Parts = { readonly db: Db; readonly secrets: Secrets }

/** Refuses a login that lacks a code, or has a wrong one. To be asked when the password is right. */
export async function demandCode(parts: Parts, account: Account, code: string | undefined): Promise<void> {
  if (!account.secondFactor) return demandSetup(parts, account)
  if (code === undefined) {
    throw new ApiError('second_factor_required', 'Send a code of the authenticator app, or a recovery code, as `code`.')
  }
  if (!(await takeCode(parts, account, code))) throw refused()
}

async function demandSetup({ db }: Parts, { applicationId }: Account): Promise<void> {
  const settings = await findSettings(db, applicationId)
  if (settings?.secondFactor !== 'required') return
  throw new ApiError(
    'second_factor_required',
    'This application demands a second factor. Set one up with POST /api/v1/auth/secondfactor, then log in with a code.',
    { extensions: { setup: true } },
  )
}

/** Whether the code is right. Each is taken once, by whoever is first. */
export async function takeCode({ db, secrets }: Parts, account: Account, typed: string): Promise<boolean> {
  const code = readCode(typed)
  const { id, applicationId, codeSecret } = account
  if (codeSecret === null) return false
  const isUser = sql`id = ${id} AND application_id = ${applicationId}::uuid AND code_secret = ${codeSecret}`
  if (/^\d{6}$/.test(code)) {
    const step = stepOf(openCodeSecret(secrets, id, codeSecret), code)
    if (step === undefined) return false
    const taken = await db.query(
      sql`UPDATE svc.users SET code_step = ${step} WHERE ${isUser} AND code_step < ${step} RETURNING 1`,
    )
    return taken.length > 0
  }
  const digest = recoveryDigest(secrets, id, code)
  const taken = await db.query(sql`
    UPDATE svc.users SET recovery_digests = array_remove(recovery_digests, ${digest})
    WHERE ${isUser} AND ${digest} = ANY(recovery_digests) RETURNING 1`)
  return taken.length > 0
}
