/** PostgreSQL's numeric in the binary form of COPY: decimals of any length, exactly. */
import { type ByteWriter, reserve } from '../../../../query/geometry/encoding/byte-writer.ts'

/** Digits before and behind the point that a decimal of a file may have, in all. */
export type DecimalDigits = { readonly precision: number; readonly scale: number }

/** What PostgreSQL lets a column declare. */
export const maxPrecision = 1_000

/** Digits lie in groups of four. */
const groupDigits = 4
const negative = 0x4000

/** Writes `-1234.50` with all its decimals. The text is known to be a plain decimal. */
export function writeNumeric(writer: ByteWriter, text: string): void {
  const isNegative = text.startsWith('-')
  const [whole = '', fraction = ''] = (isNegative ? text.slice(1) : text).split('.')
  const before = Math.ceil(whole.length / groupDigits)
  const behind = Math.ceil(fraction.length / groupDigits)
  const digits = whole.padStart(before * groupDigits, '0') + fraction.padEnd(behind * groupDigits, '0')
  const groups = before + behind
  reserve(writer, 4 + 8 + groups * 2)
  const { view, length } = writer
  view.setInt32(length, 8 + groups * 2)
  view.setInt16(length + 4, groups)
  view.setInt16(length + 6, before - 1)
  view.setUint16(length + 8, isNegative ? negative : 0)
  view.setInt16(length + 10, fraction.length)
  for (let group = 0; group < groups; group++) {
    view.setInt16(length + 12 + group * 2, Number(digits.slice(group * groupDigits, (group + 1) * groupDigits)))
  }
  writer.length += 12 + groups * 2
}

/** A number without an exponent: `1.5e-3` is `0.0015`. */
export function plainDecimal(text: string): string {
  const [, sign = '', whole = '0', fraction = '', exponent] = /^([+-]?)(\d+)\.?(\d*)e([+-]?\d{1,3})$/i.exec(text) ?? []
  if (exponent === undefined) return text
  const shift = Number(exponent)
  const digits = shift < 0 ? whole.padStart(1 - shift, '0') + fraction : whole + fraction.padEnd(shift, '0')
  const point = shift < 0 ? Math.max(whole.length, 1 - shift) + shift : whole.length + shift
  const behind = digits.slice(point)
  return `${sign === '-' ? '-' : ''}${digits.slice(0, point)}${behind && `.${behind}`}`
}

/** The decimal that `writeNumeric` wrote, without its length. */
export function readNumeric(bytes: Buffer): string {
  const [groups, weight, scale] = [bytes.readInt16BE(0), bytes.readInt16BE(2), bytes.readInt16BE(6)]
  let digits = ''
  for (let group = 0; group < groups; group++)
    digits += String(bytes.readInt16BE(8 + group * 2)).padStart(groupDigits, '0')
  const point = (weight + 1) * groupDigits
  const whole = digits.slice(0, point).replace(/^0+(?=\d)/, '')
  const fraction = digits.slice(point, point + scale)
  const sign = bytes.readUInt16BE(4) === negative ? '-' : ''
  return `${sign}${whole}${scale > 0 ? `.${fraction}` : ''}`
}
