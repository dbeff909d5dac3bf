import { randomBytes } from 'node:crypto'

const poolBytes = 2_048
let pool = ''
let at = 0

/** Random hexadecimal digits from a pool, because one call of the system for many ids is cheaper than one for each. */
export function randomHex(digits: number): string {
  if (at + digits > pool.length) {
    pool = randomBytes(poolBytes).toString('hex')
    at = 0
  }
  at += digits
  return pool.slice(at - digits, at)
}
