import { randomBytes } from 'node:crypto'

const poolBytes = 2_048
let pool = ''
let at = 0

/** So many random hexadecimal digits; chance is fetched for many at once. */
export function randomHex(digits: number): string {
  if (at + digits > pool.length) {
    pool = randomBytes(poolBytes).toString('hex')
    at = 0
  }
  at += digits
  return pool.slice(at - digits, at)
}
