import Type from 'typebox'
import { type ContactPointDriver, postJson } from '../driver.ts'
import { changeAroundUrls } from '../escape-around-urls.ts'
import { defuse, type Severity, shorten, textOf } from '../message.ts'
import { readUrl, urlSetting } from '../url-setting.ts'

const colours: Readonly<Record<Severity, number>> = {
  info: 0x3498db,
  success: 0x2ecc71,
  warning: 0xf1c40f,
  error: 0xe74c3c,
}

/** https://docs.discord.com/developers/resources/webhook */
export const discord: ContactPointDriver = {
  settings: Type.Object({ url: urlSetting('A webhook of a channel') }, { additionalProperties: false }),
  secretFields: ['url'],
  check: ({ url }) => void readUrl('body/settings/url', String(url)),
  render(message, { url }) {
    const { title, severity, url: link } = message
    const text = changeAroundUrls(shorten(textOf(message), 2_000), escaped, (address) => `<${address}>`)
    const embed = {
      ...(title && { title: shorten(changeAroundUrls(shorten(title, 128), escaped), 256) }),
      ...(text && { description: text }),
      // The title is what it would be a link of.
      ...(link && (title ? { url: link } : { description: [text, `<${link}>`].filter(Boolean).join('\n') })),
      color: colours[severity],
    }
    return postJson(String(url), { embeds: [embed], allowed_mentions: { parse: [] } })
  },
}

/** No Markdown, no mentions. At most twice as long. */
const escaped = (text: string): string => defuse(text.replace(/[\\*_~`|>#[\]()<-]/g, '\\$&'))
