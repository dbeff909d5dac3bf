/** Numbers with thousands in groups (1.234,50 and 1'234.50), and yes and no in words. */

import type { DecimalMark } from '../table-rules.ts'

const grouped: Readonly<Record<DecimalMark, RegExp>> = {
  '.': /^-?(?:\d+|[1-9]\d{0,2}(?:([,'’\u00a0\u202f ])\d{3})(?:\1\d{3})*)(?:\.\d+)?$/,
  ',': /^-?(?:\d+|[1-9]\d{0,2}(?:([.'’\u00a0\u202f ])\d{3})(?:\1\d{3})*)(?:,\d+)?$/,
}
const longest = 40

/** The digits of a number as a computer writes them, its decimals behind this mark; undefined when it is none. */
export function plainDigits(text: string, decimal: DecimalMark): string | undefined {
  if (text.length > longest || !grouped[decimal].test(text)) return undefined
  const [whole = '', fraction] = text.split(decimal)
  const digits = whole.replaceAll(/[^\d-]/g, '')
  return fraction === undefined ? digits : `${digits}.${fraction}`
}

const yes = 'yes y ja j oui si sí sì sim tak да kyllä ano igen evet evet wahr vrai verdadero vero verdadeiro prawda'
const no = 'no n nein nee nej nei non não nao nie нет ei ne nem hayır falsch faux falso fałsz'
const truths = new Map<string, boolean>([
  ...yes.split(' ').map((word) => [word, true] as const),
  ...no.split(' ').map((word) => [word, false] as const),
])
const longestWord = 10

/** What a word for yes or no says; undefined for any other. */
export const readYesOrNo = (text: string): boolean | undefined =>
  text.length > longestWord ? undefined : truths.get(text.toLowerCase())
