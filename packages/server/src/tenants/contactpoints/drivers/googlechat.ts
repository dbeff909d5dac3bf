import Type from 'typebox'
import { escapeHtml } from '../../../query/formats/html.ts'
import { type ContactPointDriver, postJson } from '../driver.ts'
import { defuse, shorten, textOf } from '../message.ts'
import { readUrl, urlSetting } from '../url-setting.ts'

/** A card: its text is a little HTML, while a plain message would know mentions such as <users/all>. */
export const googlechat: ContactPointDriver = {
  settings: Type.Object({ url: urlSetting('A webhook of a space') }, { additionalProperties: false }),
  secretFields: ['url'],
  check: ({ url }) => void readUrl('body/settings/url', String(url)),
  render(message, { url }, { id }) {
    const { title, url: link } = message
    const text = shown(shorten(textOf(message), 3_500))
    const widgets = [
      ...(title ? [{ textParagraph: { text: `<b>${shown(title)}</b>` } }] : []),
      ...(text ? [{ textParagraph: { text } }] : []),
      ...(link ? [{ buttonList: { buttons: [{ text: 'Open', onClick: { openLink: { url: link } } }] } }] : []),
    ]
    return postJson(String(url), { cardsV2: [{ cardId: id, card: { sections: [{ widgets }] } }] })
  },
}

const shown = (text: string): string => escapeHtml(defuse(text)).replaceAll('\n', '<br>')
