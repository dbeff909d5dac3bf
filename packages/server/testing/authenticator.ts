import { codeAt, stepAt } from '../src/tenants/auth/authenticator-codes.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

const bytesOf = (base32: string): Buffer => {
  const bits = Array.from(base32, (letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/** The code that an authenticator app shows now, or so many steps from now. */
export const shownBy = (secret: string, steps = 0): string => codeAt(bytesOf(secret), stepAt(Date.now()) + steps)
