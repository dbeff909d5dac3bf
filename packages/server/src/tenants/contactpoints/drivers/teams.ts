import Type from 'typebox'
import { type ContactPointDriver, postJson } from '../driver.ts'
import { defuse, type Severity, shorten, textOf } from '../message.ts'
import { readUrl, urlSetting } from '../url-setting.ts'

const colours: Readonly<Record<Severity, string>> = {
  info: 'Default',
  success: 'Good',
  warning: 'Warning',
  error: 'Attention',
}

/** An Adaptive Card. Its text runs know no Markdown and no mentions, so there is nothing to escape. */
export const teams: ContactPointDriver = {
  settings: Type.Object({ url: urlSetting('The address of a workflow') }, { additionalProperties: false }),
  secretFields: ['url'],
  check: ({ url }) => void readUrl('body/settings/url', String(url)),
  render(message, { url }) {
    const { title, severity, url: link } = message
    const text = shorten(defuse(textOf(message)), 8_000)
    const run = (text: string, more: object = {}) => ({
      type: 'RichTextBlock',
      inlines: [{ type: 'TextRun', text, ...more }],
    })
    const content = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      body: [
        ...(title ? [run(defuse(title), { weight: 'Bolder', size: 'Medium', color: colours[severity] })] : []),
        ...(text ? [run(text)] : []),
      ],
      ...(link && { actions: [{ type: 'Action.OpenUrl', title: 'Open', url: link }] }),
    }
    const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }
    return postJson(String(url), { type: 'message', attachments: [attachment] })
  },
}
