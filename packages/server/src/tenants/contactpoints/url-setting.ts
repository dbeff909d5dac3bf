import Type from 'typebox'
import { invalid } from '../../kernel/errors.ts'

/** An address in the settings of a contact point. */
export const urlSetting = (description: string) =>
  Type.String({
    maxLength: 2_000,
    pattern: '^https?://[^\\s\\\\]+$',
    examples: ['https://example.org/hook'],
    description,
  })

/** The address in its normal form, if it is one that can be called. */
export function readUrl(path: string, text: string): string {
  const url = /^https?:\/\/[^\s\\]+$/i.test(text) ? URL.parse(text) : null
  if (!url) throw invalid(path, 'must be an http or https address')
  if (url.username !== '' || url.password !== '') throw invalid(path, 'must not hold a user or password')
  return url.href
}
