import { randomHex } from './random-hex.ts'

const variants = '89ab'

/** UUID version 7: it begins with the time, so that later ones sort after earlier ones. */
export function uuidV7(now = Date.now()): string {
  const time = now.toString(16).padStart(12, '0')
  const random = randomHex(19)
  const variant = variants[Number.parseInt(random.slice(0, 1), 16) % 4]
  const [a, b, c] = [random.slice(1, 4), random.slice(4, 7), random.slice(7)]
  return `${time.slice(0, 8)}-${time.slice(8)}-7${a}-${variant}${b}-${c}`
}
