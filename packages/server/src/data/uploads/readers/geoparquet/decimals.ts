/** Decimals of Parquet, exactly: its reader would make doubles of them, 1234567.8900000001 of 1234567.89. */
import type { FileMetaData, SchemaElement, SchemaTree } from 'hyparquet'
import { type DecimalDigits, maxPrecision } from '../engine/numeric-binary.ts'
import { ReadFault } from '../reader.ts'

/** The digits of a column of decimals; undefined for one of anything else, or of more digits than a database takes. */
export function decimalDigits(element: SchemaElement): DecimalDigits | undefined {
  if (!isDecimal(element)) return undefined
  const { logical_type: logical } = element
  const { precision = 0, scale = 0 } = logical?.type === 'DECIMAL' ? logical : element
  return precision > 0 && precision <= maxPrecision && scale >= 0 && scale <= precision
    ? { precision, scale }
    : undefined
}

const isDecimal = ({ logical_type: logical, converted_type: converted }: SchemaElement): boolean =>
  logical?.type === 'DECIMAL' || converted === 'DECIMAL'

/** Whether decimals lie in a list or structure, where they become numbers of JSON. */
export const holdsDecimals = ({ children }: SchemaTree): boolean =>
  children.some((child) => isDecimal(child.element) || holdsDecimals(child))

/** The same metadata, but columns of decimals are left as the integers that they are stored as. */
export function withPlainDecimals(metadata: FileMetaData, columns: readonly SchemaTree[]): FileMetaData {
  const plain = new Set(columns.filter(({ element }) => decimalDigits(element)).map(({ element }) => element))
  const schema = metadata.schema.map((element) => {
    if (!plain.has(element)) return element
    const { converted_type: _, logical_type: __, ...rest } = element
    return rest
  })
  return { ...metadata, schema }
}

/** Longer than any decimal of so many digits. */
const maxBytes = 420

/** The decimal that is stored as this integer: 1234 of scale 2 is 12.34. */
export function decimalText(stored: unknown, scale: number): string {
  const unscaled = stored instanceof Uint8Array ? integerOf(stored) : BigInt(stored as number | bigint)
  if (scale === 0) return String(unscaled)
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0')
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

/** Two's complement, the highest byte first. */
function integerOf(bytes: Uint8Array): bigint {
  if (bytes.length > maxBytes)
    throw new ReadFault('invalid_file', `A decimal has more than ${maxBytes} bytes, the limit.`)
  return bytes.length === 0 ? 0n : BigInt.asIntN(bytes.length * 8, BigInt(`0x${Buffer.from(bytes).toString('hex')}`))
}

/** Whether a decimal has more digits than its column declares: a database would refuse it. */
export const isTooLong = (text: string, { precision }: DecimalDigits): boolean =>
  text.replace(/^-?0*|\./g, '').length > precision
