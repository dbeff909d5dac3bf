import Type from 'typebox'
import { escapeHtml } from '../../../query/formats/html.ts'
import { type ContactPointDriver, postJson } from '../driver.ts'
import { defuse, shorten, textOf } from '../message.ts'

const api = 'https://api.telegram.org'

/** https://core.telegram.org/bots/api#sendmessage; a message has 4096 characters, marks not counted. */
export const telegram: ContactPointDriver = {
  settings: Type.Object(
    {
      botToken: Type.String({
        maxLength: 221,
        pattern: '^\\d{1,20}:[\\w-]{20,200}$',
        examples: ['123456789:AAExampleExampleExample'],
        description: 'As BotFather gave it',
      }),
      chatId: Type.Union([
        Type.Integer(),
        Type.String({ maxLength: 65, pattern: '^(-?\\d{1,20}|@\\w{1,64})$', examples: ['@channel'] }),
      ]),
    },
    { additionalProperties: false },
  ),
  secretFields: ['botToken'],
  render(message, { botToken, chatId }) {
    const { title, url } = message
    const text = escapeHtml(defuse(shorten(textOf(message), 3_500)))
    const lines = [
      title && `<b>${escapeHtml(defuse(title))}</b>`,
      text,
      url && `<a href="${escapeHtml(url)}">${escapeHtml(shorten(url, 200))}</a>`,
    ]
    return postJson(`${api}/bot${botToken}/sendMessage`, {
      chat_id: chatId,
      text: lines.filter(Boolean).join('\n'),
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
    })
  },
  judge(answer) {
    const { parameters } = (answer ?? {}) as { parameters?: { retry_after?: unknown } }
    const seconds = Number(parameters?.retry_after)
    return seconds > 0 ? { retryAfterSeconds: seconds } : {}
  },
}
