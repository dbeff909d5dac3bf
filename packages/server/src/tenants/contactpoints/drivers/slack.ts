import Type from 'typebox'
import { invalid } from '../../../kernel/errors.ts'
import { type ContactPointDriver, postJson } from '../driver.ts'
import { defuse, type Message, shorten, textOf } from '../message.ts'
import { readUrl, urlSetting } from '../url-setting.ts'

const api = 'https://slack.com/api/chat.postMessage'

/** https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks, or a bot's token and a channel. */
export const slack: ContactPointDriver = {
  settings: Type.Object(
    {
      url: Type.Optional(urlSetting('An incoming webhook')),
      token: Type.Optional(
        Type.String({
          maxLength: 506,
          pattern: '^xox[a-z]-[\\w-]{10,500}$',
          examples: ['xoxb-1234567890-example'],
          description: 'Of a bot, with chat:write',
        }),
      ),
      channel: Type.Optional(
        Type.String({
          maxLength: 81,
          pattern: '^[#@]?[\\p{L}\\p{N}._-]{1,80}$',
          examples: ['#alerts'],
          description: 'Goes with a token',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  secretFields: ['url', 'token'],
  check({ url, token, channel }) {
    if ((url === undefined) === (token === undefined)) {
      throw invalid('body/settings', 'must have either url or token and channel')
    }
    if ((token === undefined) !== (channel === undefined))
      throw invalid('body/settings', 'must have both token and channel, or neither')
    if (url !== undefined) readUrl('body/settings/url', String(url))
  },
  render(message, { url, token, channel }) {
    const body = { text: fallbackOf(message), blocks: blocksOf(message), ...quiet }
    if (url !== undefined) return postJson(String(url), body)
    return postJson(api, { channel, ...body }, { authorization: `Bearer ${token}` })
  },
  /** The interface says 200 whatever happens; a webhook says the bare word ok. */
  judge(answer) {
    if (typeof answer !== 'object' || answer === null || !('ok' in answer) || answer.ok === true) return {}
    const error = 'error' in answer ? String(answer.error) : 'unknown'
    return { error: `Slack answered: ${error}`, isFinal: !transient.includes(error) }
  },
}

const transient = [
  'ratelimited',
  'rate_limited',
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
]
const quiet = { parse: 'none', link_names: false, unfurl_links: false, unfurl_media: false }

/** Up to the end of a word if there is one, lest an address is cut in two. */
const piece = /[\s\S]{1,2900}(?=\s|$)|[\s\S]{1,2900}(?![\udc00-\udfff])/g

/** Plain text has neither mentions nor formats. A section holds 3000 characters. */
function blocksOf(message: Message): object[] {
  const { title, url } = message
  const pieces = defuse(textOf(message)).match(piece) ?? []
  return [
    ...(title ? [{ type: 'header', text: plain(shorten(defuse(title), 150)) }] : []),
    ...pieces.filter((text) => text.trim()).map((text) => ({ type: 'section', text: plain(text) })),
    ...(url ? [{ type: 'section', text: { type: 'mrkdwn', text: `<${escaped(url).replaceAll('|', '%7C')}>` } }] : []),
  ]
}

const plain = (text: string) => ({ type: 'plain_text', text, emoji: false })

/** What a notification shows. */
const fallbackOf = (message: Message): string =>
  escaped(defuse(shorten([message.title, textOf(message)].filter(Boolean).join('\n'), 2_000)))

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
