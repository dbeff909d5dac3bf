// The codes of authenticator apps (TOTP, RFC 6238, as they all have it: SHA-1, 30 seconds, 6 digits), and the recovery codes beside them.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const stepSeconds = 30
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Base32 without padding: what people can type. */
export function base32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((five) => alphabet[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')
}

/** As RFC 4226 recommends: 160 bits. */
export const newCodeSecret = (): Buffer => randomBytes(20)

/** What the QR code for an authenticator app says. */
export function authenticatorUri(secret: Uint8Array, issuer: string, account: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`
}

export const stepAt = (ms: number): number => Math.floor(ms / 1000 / stepSeconds)

/** The code of a step, by the dynamic truncation of RFC 4226. */
export function codeAt(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const digest = createHmac('sha1', secret).update(counter).digest()
  const number = digest.readUInt32BE((digest[19] ?? 0) & 0xf) & 0x7fff_ffff
  return String(number % 1_000_000).padStart(6, '0')
}

/** The step whose code this is: the clock of a phone may be half a minute off. */
export function stepOf(secret: Uint8Array, code: string): number | undefined {
  const now = stepAt(Date.now())
  return [now, now - 1, now + 1].find((step) => timingSafeEqual(Buffer.from(codeAt(secret, step)), Buffer.from(code)))
}

const recoveryCodes = 10

/** Each of 80 bits, in four groups. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: recoveryCodes }, () => (base32(randomBytes(10)).toLowerCase().match(/.{4}/g) ?? []).join('-'))

/** As it was typed: blanks and hyphens do not count, nor does the case. */
export const readCode = (typed: string): string => typed.replace(/[\s-]/g, '').toLowerCase()
