// The user that a provider's sign-in or token is about: found by its subject, linked by its verified address, or made.
import { systemTrail, writeEntry } from '../../../api/access/audit-trail.ts'
import { lockApplication } from '../../../api/resource/lock-application.ts'
import { touched } from '../../../api/resource/store.ts'
import { newUserId } from '../../../api/resource/user-id.ts'
import type { Db, Queryable } from '../../../kernel/db/db.ts'
import { joinSql, json, type Sql, sql } from '../../../kernel/db/sql.ts'
import { type Account, accountById, findAccount } from '../accounts.ts'
import type { ProviderProfile } from './claim-mapping.ts'
import type { ProviderRecord } from './provider-records.ts'
import { SignInRefusal } from './sign-in-refusal.ts'

/**
 * The user, with what the provider says of it, or a refusal. Who came before is found by the subject, whatever the address is now. Who comes
 * for the first time needs an address that the provider calls verified.
 */
export async function admitProfile(db: Db, provider: ProviderRecord, profile: ProviderProfile): Promise<Account> {
  checkDomain(provider, profile)
  const id = (await findIdentity(db, provider, profile)) ?? (await firstSignIn(db, provider, profile))
  await updateUser(db, provider, profile, id)
  const account = await accountById(db, provider.applicationId, id)
  if (!account?.enabled) throw new SignInRefusal('user_disabled')
  return account
}

function checkDomain({ emailDomains }: ProviderRecord, { verifiedEmail }: ProviderProfile): void {
  if (emailDomains.length === 0) return
  if (verifiedEmail === undefined) throw new SignInRefusal('email_not_verified')
  const domain = verifiedEmail.slice(verifiedEmail.lastIndexOf('@') + 1).toLowerCase()
  if (!emailDomains.includes(domain)) throw new SignInRefusal('domain_not_allowed')
}

async function findIdentity(db: Queryable, { id }: ProviderRecord, { subject }: ProviderProfile) {
  const [identity] = await db.query<{ userId: number }>(
    sql`SELECT user_id AS "userId" FROM svc.identities WHERE provider_id = ${id}::uuid AND subject = ${subject}`,
  )
  return identity?.userId
}

function firstSignIn(db: Db, provider: ProviderRecord, profile: ProviderProfile): Promise<number> {
  const { verifiedEmail } = profile
  if (verifiedEmail === undefined) throw new SignInRefusal('email_not_verified')
  const { id, applicationId, createsUsers, linksUsers } = provider
  return db.transaction(async (tx) => {
    await lockApplication(tx, applicationId)
    const made = createsUsers ? await insertUser(tx, provider, verifiedEmail) : undefined
    const account = await findAccount(tx, applicationId, verifiedEmail)
    // Another request for the same subject may have come first, and been waited for.
    const present = await findIdentity(tx, provider, profile)
    if (present !== undefined) return present
    if (!account || (made === undefined && !linksUsers)) throw new SignInRefusal('user_unknown')
    if (made === undefined) await claim(tx, account)
    await tx.query(sql`
      INSERT INTO svc.identities (provider_id, subject, application_id, user_id)
      VALUES (${id}::uuid, ${profile.subject}, ${applicationId}::uuid, ${account.id})`)
    const trail = systemTrail(made === undefined ? 'users.link' : 'users.create', made === undefined ? 200 : 201)
    await writeEntry(tx, { ...trail, applicationId, target: { type: 'users', id: String(account.id) } })
    return account.id
  })
}

/** A user without a password; nothing where the address has one already. */
async function insertUser(tx: Queryable, { applicationId }: ProviderRecord, email: string) {
  const [made] = await tx.query<{ id: number }>(sql`
    INSERT INTO svc.users (id, application_id, email, email_verified)
    VALUES (${newUserId()}, ${applicationId}::uuid, ${email}, true)
    ON CONFLICT (application_id, email_key) DO NOTHING RETURNING id`)
  return made?.id
}

/**
 * Links to a user who was there before. Somebody may have signed up with an address that is not theirs, and wait for its owner to confirm it:
 * the password of such a sign-up must never count.
 */
async function claim(tx: Queryable, account: Account): Promise<void> {
  if (!account.enabled) throw new SignInRefusal('user_disabled')
  if (account.emailVerified && account.pendingPassword === null) return
  if (account.password !== null) throw new SignInRefusal('user_unknown')
  await tx.query(sql`
    UPDATE svc.users SET pending_password = NULL, verification_token = NULL, verification_hash = NULL, email_verified = true, ${touched}
    WHERE id = ${account.id}`)
}

/** What the mapping names follows the provider. Nothing is written where nothing has changed. */
async function updateUser(db: Queryable, provider: ProviderRecord, profile: ProviderProfile, id: number) {
  const { firstName, lastName, roles, metadata, metadataNames } = profile
  const merged = sql`((metadata - ${metadataNames}::text[]) || ${json(metadata)})`
  const values: readonly (readonly [Sql, Sql])[] = [
    ...(firstName === undefined ? [] : [[sql`first_name`, sql`${firstName}::text`] as const]),
    ...(lastName === undefined ? [] : [[sql`last_name`, sql`${lastName}::text`] as const]),
    ...(roles === undefined ? [] : [[sql`roles`, sql`${roles}::text[]`] as const]),
    ...(metadataNames.length === 0
      ? []
      : [
          [
            sql`metadata`,
            sql`CASE WHEN octet_length(${merged}::text) > 65536 THEN metadata ELSE ${merged} END`,
          ] as const,
        ]),
  ]
  if (values.length === 0) return
  const changes = values.map(([column, value]) => sql`${column} = ${value}`)
  const differences = values.map(([column, value]) => sql`${column} IS DISTINCT FROM ${value}`)
  await db.query(sql`
    UPDATE svc.users SET ${joinSql(changes, ', ')}, ${touched}
    WHERE id = ${id} AND application_id = ${provider.applicationId}::uuid AND enabled AND (${joinSql(differences, ' OR ')})`)
}
