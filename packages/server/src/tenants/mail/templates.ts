import type { Row } from '../../kernel/db/db.ts'
import { escapeHtml } from '../../query/formats/html.ts'

export const templateNames = ['confirm', 'reset'] as const
export type TemplateName = (typeof templateNames)[number]

export type MailContent = { readonly subject: string; readonly text: string; readonly html?: string }
export type Values = Readonly<Record<string, string>>

/** `{{name}}` stands for a value; `application` is always known. */
const templates: Readonly<Record<TemplateName, MailContent>> = {
  confirm: {
    subject: 'Confirm your address for {{application}}',
    text: `Hello,

please confirm that this is your address by opening this link:

{{link}}

If you did not sign up at {{application}}, ignore this message.
`,
    html: `<p>Hello,</p>
<p>please confirm that this is your address:</p>
<p><a href="{{link}}">Confirm the address</a></p>
<p>Or open this link: {{link}}</p>
<p>If you did not sign up at {{application}}, ignore this message.</p>
`,
  },
  reset: {
    subject: 'Reset your password for {{application}}',
    text: `Hello,

somebody, probably you, asked to reset your password at {{application}}. Open this link to choose a new one:

{{link}}

If it was not you, ignore this message: your password stays as it is.
`,
    html: `<p>Hello,</p>
<p>somebody, probably you, asked to reset your password at {{application}}.</p>
<p><a href="{{link}}">Choose a new password</a></p>
<p>Or open this link: {{link}}</p>
<p>If it was not you, ignore this message: your password stays as it is.</p>
`,
  },
}

/** Renders a mail, with the application's own template if its metadata has one at `mail.templates`. */
export function renderTemplate(name: TemplateName, metadata: unknown, values: Values): MailContent {
  const own = member(member(member(metadata, 'mail'), 'templates'), name)
  const usual = templates[name]
  const ownText = textOf(own, 'text')
  // With a custom text and no custom HTML, the default HTML would contradict the text.
  const html = textOf(own, 'html') ?? (ownText === undefined ? usual.html : undefined)
  return {
    subject: oneLine(fill(textOf(own, 'subject') ?? usual.subject, values, oneLine)),
    text: fill(ownText ?? usual.text, values, (value) => value),
    ...(html !== undefined && { html: fill(html, values, escapeHtml) }),
  }
}

/** One pass, so that a value that looks like a placeholder is not replaced. Unknown placeholders become empty. */
function fill(template: string, values: Values, escaped: (value: string) => string): string {
  return template.replace(/\{\{\s*(\w{1,40})\s*\}\}/g, (_, name) =>
    Object.hasOwn(values, name) ? escaped(values[name] ?? '') : '',
  )
}

/** A line break in a subject would begin another header. */
export const oneLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, 500)

function member(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
  return isObject ? (value as Row)[name] : undefined
}

function textOf(value: unknown, name: string): string | undefined {
  const text = member(value, name)
  return typeof text === 'string' && text.trim() !== '' ? text : undefined
}
