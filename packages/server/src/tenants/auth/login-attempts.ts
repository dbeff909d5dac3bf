import { isIPv6 } from 'node:net'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import { countInWindow, demandRate, hourSeconds } from '../../kernel/db/window-counters.ts'
import { limits, overLimit } from '../../kernel/limits/limits.ts'

/** A login attempt: account and address. */
export type LoginAttempt = { readonly applicationId: string; readonly email: string; readonly address: string }

const windowSeconds = 900
/** An address may do so many times what it may in one application in all of them together. */
const inAllApplications = 50
const most = { tries: limits.loginFailures.value, account: 50, address: limits.addressFailures.value }

/**
 * Rate limit for failed logins, by account and by address within the application, so that a flood at one tenant does not lock out
 * the users of another who share its address (an office, a mobile network, a proxy). The brake over all applications is only there
 * to bound what an address costs. 429 when there were too many. An attempt counts as failed before
 * its outcome is known, so that concurrent attempts count too. Returns the function that takes it back.
 */
export function countAttempt(db: Db, attempt: LoginAttempt): Promise<() => Promise<void>> {
  const { applicationId, email, address: ip } = attempt
  const account = `${applicationId} ${foldAscii(email)}`
  const address = networkOf(ip)
  const counters = [
    [`tries ${account} ${address}`, most.tries],
    [`account ${account}`, most.account],
    [`address ${applicationId} ${address}`, most.address],
    inAll(address),
  ] as const
  return countAll(db, counters, 'loginFailures')
}

/** For a credential without an account: attempts count for the address. */
export const countAddress = (db: Db, ip: string): Promise<() => Promise<void>> =>
  countAll(db, [[`exchange ${networkOf(ip)}`, most.address], inAll(networkOf(ip))], 'addressFailures')

const inAll = (address: string) => [`everywhere ${address}`, most.address * inAllApplications] as const

async function countAll(
  db: Db,
  counters: readonly (readonly [name: string, most: number])[],
  name: 'loginFailures' | 'addressFailures',
): Promise<() => Promise<void>> {
  const seconds = await countInWindow(db, counters, windowSeconds)
  if (seconds !== undefined) {
    const detail = 'Too many failed attempts. Wait for the seconds in the header Retry-After.'
    throw overLimit(name, limits[name].value, detail, {
      headers: { 'Retry-After': String(seconds) },
    })
  }
  const buckets = counters.map(([bucket]) => bucket)
  return async () => {
    await db.query(
      sql`UPDATE svc.login_failures SET count = count - 1 WHERE bucket IN (
              SELECT bucket FROM svc.login_failures WHERE bucket = ANY(${buckets}::text[]) AND count > 0
              ORDER BY bucket FOR UPDATE)`,
    )
  }
}

/** Rate limit for mails to one address, so that nobody can flood a mailbox through the service. */
export async function allowsMail(
  db: Db,
  { applicationId, email }: Omit<LoginAttempt, 'address'>,
  template: 'confirm' | 'reset',
): Promise<boolean> {
  const account = `${applicationId} ${foldAscii(email)}`
  const isMany = await countInWindow(db, [[`mail ${account}`, most.tries]], windowSeconds)
  if (isMany !== undefined) return false
  if (template === 'confirm') return true
  return (await countInWindow(db, [[`reset ${account}`, limits.resetMails.value]], hourSeconds)) === undefined
}

type SignupAttempt = { readonly applicationId: string; readonly address: string }

/**
 * Rate limit for sign-ups, successful or not: each costs a password hash, and perhaps a mail to a stranger. It is counted like failed
 * logins: by application, with a brake over all far above. An address of this machine is that of a proxy whose word is not taken,
 * and tells nobody from another.
 */
export async function countSignup(db: Db, { applicationId, address }: SignupAttempt, perHour: number): Promise<void> {
  if (perHour === 0 || isLoopback(address)) return
  const network = networkOf(address)
  const counters = [
    [`signup ${applicationId} ${network}`, perHour],
    [`signups ${network}`, perHour * inAllApplications],
  ] as const
  const detail = `${perHour} sign-ups came from this address within an hour, its limit.`
  await demandRate(db, { limit: 'signups', counters, seconds: hourSeconds, detail })
}

const isLoopback = (ip: string): boolean => /^(::ffff:)?127\.|^::1$/i.test(ip)

/** Lower case of ASCII letters, as the database folds them. */
const foldAscii = (email: string): string => email.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** IPv6 is counted by /64, because a client usually has all 2^64 addresses of one. */
function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.split('%', 1)[0]?.split('::') ?? []
  const before = head === '' ? [] : head.split(':')
  const after = tail ? tail.split(':') : []
  const missing = tail === undefined ? 0 : 8 - before.length - after.length
  return `${[...before, ...Array<string>(missing).fill('0'), ...after].slice(0, 4).join(':')}::/64`
}
