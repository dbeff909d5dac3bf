import Type from 'typebox'
import { invalid } from '../../../kernel/errors.ts'
import { escapeHtml } from '../../../query/formats/html.ts'
import type { ContactPointDriver, Settings } from '../driver.ts'
import { shorten, textOf } from '../message.ts'

const address = Type.String({
  maxLength: 320,
  pattern:
    '^[^\\s@<>()\\[\\],;:\\\\"\\u0000-\\u001f\\u007f]{1,64}@[^\\s@<>()\\[\\],;:\\\\"\\u0000-\\u001f\\u007f]{1,255}$',
})

/** Mail to a list of addresses. */
export const email: ContactPointDriver = {
  settings: Type.Object(
    { addresses: Type.Array(address, { minItems: 1, maxItems: 50, description: 'Who gets it' }) },
    { additionalProperties: false },
  ),
  secretFields: [],
  /** A key that may send must not be one that writes to anybody. */
  checkMessage({ to }, settings) {
    const addresses = addressesOf(settings).map((text) => text.toLowerCase())
    const stranger = to?.findIndex((text) => !addresses.includes(text.toLowerCase())) ?? -1
    if (stranger !== -1) throw invalid(`body/to/${stranger}`, 'must be one of the addresses of this contact point')
  },
  render(message, settings) {
    const { title, url, to } = message
    const text = textOf(message)
    const html = [
      ...(title ? [`<h2>${escapeHtml(title)}</h2>`] : []),
      ...(text ? [`<p style="white-space: pre-wrap">${escapeHtml(text)}</p>`] : []),
      ...(url ? [`<p><a href="${escapeHtml(url)}">${escapeHtml(url)}</a></p>`] : []),
    ]
    return {
      kind: 'mail',
      to: to ?? addressesOf(settings),
      subject: title ?? shorten(text.trim().split('\n', 1)[0] ?? '', 100),
      text: [text || title, url].filter(Boolean).join('\n\n'),
      html: html.join('\n'),
    }
  },
}

const addressesOf = ({ addresses }: Settings): string[] => (Array.isArray(addresses) ? addresses.map(String) : [])
