import Type, { type Static } from 'typebox'
import { freeRecord } from '../../api/http/input/bounded-schemas.ts'
import { invalid } from '../../kernel/errors.ts'
import { changeAroundUrls, urlStartBefore } from './escape-around-urls.ts'
import { readUrl } from './url-setting.ts'

export const severities = ['info', 'success', 'warning', 'error'] as const
export type Severity = (typeof severities)[number]

/** A message that some service can show. */
export type Message = {
  readonly title?: string
  readonly message?: string
  readonly severity: Severity
  readonly url?: string
  readonly data?: Readonly<Record<string, unknown>>
  readonly to?: readonly string[]
  /** An event of the service itself, which only webhooks get, in place of all the others. */
  readonly event?: { readonly type: string; readonly data: Readonly<Record<string, unknown>> }
}

const text = (description: string) => Type.String({ maxLength: 20_000, description })
const line = (description: string) =>
  Type.String({ maxLength: 250, pattern: '^[^\\u0000-\\u001f\\u007f\\u2028\\u2029]*$', description })

export const sendSchema = Type.Object(
  {
    message: Type.Optional(text('What to say; services with a limit get the beginning of it')),
    text: Type.Optional(text('The same as message')),
    body: Type.Optional(text('The same as message')),
    title: Type.Optional(line('One line; the subject of an e-mail')),
    subject: Type.Optional(line('The same as title')),
    severity: Type.Optional(Type.Enum([...severities], { default: 'info' })),
    url: Type.Optional(Type.String({ maxLength: 2_000, description: 'Where to read more: http or https' })),
    data: Type.Optional(
      freeRecord('bodyBytes', {
        description: 'Webhooks get it as it is; others only if there is no message',
      }),
    ),
    to: Type.Optional(
      Type.Array(Type.String({ maxLength: 320 }), {
        minItems: 1,
        maxItems: 50,
        description: 'Of the addresses of an e-mail contact point only these',
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ title: 'High water', message: 'The gauge at the harbour shows 7.2 m.', severity: 'warning' }],
  },
)

/** Normalizes the aliases of a message; 400 when it is empty or ambiguous. */
export function readMessage(body: Static<typeof sendSchema>): Message {
  const message = cleaned(oneOf(body, ['message', 'text', 'body']))
  const title = oneOf(body, ['title', 'subject'])?.trim()
  const { severity = 'info', url, data, to } = body
  const isEmpty = !message?.trim() && !title && !url && (data === undefined || Object.keys(data).length === 0)
  if (isEmpty) throw invalid('body/message', 'is required, unless there is a title')
  return {
    ...(title && { title }),
    ...(message?.trim() && { message }),
    severity,
    ...(url && { url: readUrl('body/url', url) }),
    ...(data && { data }),
    ...(to && { to }),
  }
}

/** The text, or another field in its place. */
export function textOf({ message, title, url, data }: Message): string {
  if (message !== undefined) return message
  if (data && Object.keys(data).length > 0) return JSON.stringify(data, null, 2)
  return title === undefined && url !== undefined ? url : ''
}

/** At most so many UTF-16 units, without cutting a character in two, or a URL, half of which leads elsewhere. */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text
  const end = urlStartBefore(text, max - 1) || max - 1
  return `${text.slice(0, end).replace(/[\ud800-\udbff]$/, '')}…`
}

/** Defuses mentions of everybody, without a visible change. */
export const defuse = (text: string): string =>
  changeAroundUrls(text, (part) => part.replace(/@(?=everyone|here|channel|all\b)/gi, '@\u200b'))

type Names = 'message' | 'text' | 'body' | 'title' | 'subject'

function oneOf(body: Partial<Record<Names, string>>, names: readonly Names[]): string | undefined {
  const present = names.filter((name) => body[name] !== undefined)
  const [first, other] = [...new Set(present.map((name) => body[name]))]
  if (other !== undefined) throw invalid(`body/${present[1]}`, `must be the same as ${present[0]}, or be left out`)
  return first
}

/** Removes control characters except tabs and line ends. */
const cleaned = (text: string | undefined): string | undefined =>
  text?.replace(/\r\n?/g, '\n').replace(/(?![\n\t])\p{Cc}/gu, '')
