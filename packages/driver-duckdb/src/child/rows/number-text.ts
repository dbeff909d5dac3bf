/** Numbers as PostgreSQL writes them, so that one value has one text whatever database it comes from. */

type Form = { readonly exponentFrom: number; readonly shortest: (value: number) => string }

const double: Form = { exponentFrom: 15, shortest: (value) => value.toExponential() }
const float: Form = { exponentFrom: 6, shortest: shortestFloat }

export const doubleText = (value: number): string => {
  const size = Math.abs(value)
  // Where JavaScript writes the same.
  if (size >= 1e-4 && size < 1e15) return String(value)
  return textOf(value, double)
}

export const floatText = (value: number): string => textOf(value, float)

function textOf(value: number, { exponentFrom, shortest }: Form): string {
  if (!Number.isFinite(value)) return String(value)
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const [mantissa = '', power = '0'] = shortest(value).split('e')
  const exponent = Number(power)
  if (exponent < -4 || exponent >= exponentFrom) {
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
  }
  return plain(mantissa, exponent)
}

/** `-1.25`, 1 → `-12.5` */
function plain(mantissa: string, exponent: number): string {
  const sign = mantissa.startsWith('-') ? '-' : ''
  const digits = mantissa.replace(/[-.]/g, '')
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0')
  const fraction = digits.slice(exponent + 1)
  return `${sign}${whole}${fraction && `.${fraction}`}`
}

const floatDigits = 9

/** The fewest digits that are this 32-bit number and no other. */
function shortestFloat(value: number): string {
  for (let digits = 0; digits < floatDigits; digits++) {
    const text = value.toExponential(digits)
    if (Math.fround(Number(text)) === value) return text
  }
  return value.toExponential(floatDigits)
}

/** Does a reader that makes a double of it hold just this number? */
export function isExactDouble(text: string): boolean {
  const number = Number(text)
  if (!Number.isFinite(number)) return false
  // Fifteen significant digits always survive.
  return text.length <= 15 || digitsOf(text) === digitsOf(String(number))
}

/** `12.340e5` → `1234e3`: one text for one value. */
function digitsOf(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const trimmed = digits.replace(/0+$/, '')
  const scale = Number(exponent) - fraction.length + digits.length - trimmed.length
  return trimmed === '' ? '0' : `${sign === '-' ? '-' : ''}${trimmed}e${scale}`
}
