import fc, { type Arbitrary } from 'fast-check'

// What has broken other servers.
const sqlTexts = ["'", '"', ';--', '$$', "E'\\''", "' OR 1=1 --", '\\', '%', '$1', '/*', 'svc.apikeys', "'::jsonb"]
const nameTexts = [
  'a.b',
  'ctid',
  'xmin',
  'geom',
  'toString',
  'hasOwnProperty',
  '0',
  '-1',
  '*',
  '$where',
  '..',
  'ünï',
  ' ',
]
const strangeTexts = [
  '',
  'שלום\u202e',
  '👩‍🚀',
  '\u{ffff}',
  '\u00a0',
  '\r\nx-injected: 1',
  '<script>',
  '~many.64~',
  '~many.65~',
]
const refusedTexts = [
  '\0',
  'a\0b',
  '\ud800',
  'a\udfffb',
  '__proto__',
  'constructor',
  'prototype',
  '~many.10000~',
  '~many.70000~',
]
const numberTexts = [
  'NaN',
  'Infinity',
  '1_000',
  '0x10',
  '-0',
  '1e309',
  '9007199254740993',
  '9223372036854775808',
  '1.5',
  '-1',
]
export const dateTexts = [
  '9999-12-31T23:59:59-23:59',
  '2130-01-01T00:00:00+23:59',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:60Z',
  '2024-02-30T00:00:00Z',
  '294277-01-01T00:00:00Z',
  'infinity',
]
const pathTexts = ['../../etc/passwd', '..\\..\\x', '/', '//evil.example', 'http://evil.example/', '.', '?', '#', 'a/b']
export const encodedTexts = [
  '..%2f..%2fetc%2fpasswd',
  '%00',
  '%ED%A0%80',
  '%',
  '%zz',
  '%C0%AF',
  ';x=1',
  '%3b',
  '+',
  '%252e',
  '..',
  '.',
  '%2F',
]
export const numbers = [0, -0, -1, 1.5, 2 ** 31, 2 ** 53, 2 ** 53 + 2, 2 ** 63, 1e21, 1.7e308, 5e-324]

export const goodTexts = [...sqlTexts, ...nameTexts, ...strangeTexts]
export const anyName = fc.oneof(
  fc.constantFrom('colour', 'a', 'b', ...goodTexts),
  fc.string({ unit: 'binary', maxLength: 8 }),
)
export const hostileText = fc.oneof(
  fc.constantFrom(...goodTexts, ...refusedTexts, ...numberTexts, ...dateTexts, ...pathTexts),
  fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)), maxLength: 6 }),
)
export const goodJson = jsonOf(fc.oneof(fc.constantFrom(...goodTexts), fc.string()), anyName)
export const hostileJson = fc.oneof(
  hostileText,
  fc.constantFrom(...numbers, null, true, [], {}, [null], [[]], { $eq: 1 }),
  jsonOf(hostileText, hostileText),
)

function jsonOf(text: Arbitrary<string>, name: Arbitrary<string>): Arbitrary<unknown> {
  return fc.letrec<{ json: unknown }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.oneof(
        text,
        fc.constantFrom(...numbers),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
      ),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(name, tie('json'), { maxKeys: 3 }),
    ),
  })).json
}

/** Percent-encoded; the marks of a placeholder stay as they are. */
export function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
