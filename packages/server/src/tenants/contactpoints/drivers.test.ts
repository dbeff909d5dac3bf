import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validator } from '../../api/http/input/validate.ts'
import type { RenderedMessage, Settings } from './driver.ts'
import { driverNames, driverOf } from './drivers.ts'
import { type Message, readMessage, sendSchema } from './message.ts'
import { changeSettings } from './secret-settings.ts'

const delivery = { id: 'd1', acceptedAt: new Date(0), now: new Date(1_700_000_000_000) }
const url = 'https://hooks.example.org/secret-path'

const read = validator(sendSchema, 'body')

const full: Message = {
  title: 'High <b>water</b>',
  message: 'Line *one*\nLine <!channel> & @everyone',
  severity: 'warning',
  url: 'https://example.org/gauge?a=1&b=2',
}

function render(type: string, settings: Settings, message: Message = full): RenderedMessage {
  return driverOf(type).render(message, settings, delivery)
}

function bodyOf(type: string, settings: Settings, message?: Message) {
  const rendered = render(type, settings, message)
  if (rendered.kind !== 'http') throw new Error('It is mail')
  assert.equal(rendered.headers['content-type'], 'application/json; charset=utf-8')
  return JSON.parse(rendered.body)
}

test('the drivers are these, in order', () => {
  assert.deepEqual(driverNames, ['discord', 'email', 'googlechat', 'slack', 'teams', 'telegram', 'webhook'])
})

test('Slack gets plain text in blocks and an escaped text for notifications', () => {
  assert.deepEqual(bodyOf('slack', { url }), {
    text: 'High &lt;b&gt;water&lt;/b&gt;\nLine *one*\nLine &lt;!channel&gt; &amp; @\u200beveryone',
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: 'High <b>water</b>', emoji: false } },
      {
        type: 'section',
        text: { type: 'plain_text', text: 'Line *one*\nLine <!channel> & @\u200beveryone', emoji: false },
      },
      { type: 'section', text: { type: 'mrkdwn', text: '<https://example.org/gauge?a=1&amp;b=2>' } },
    ],
    parse: 'none',
    link_names: false,
    unfurl_links: false,
    unfurl_media: false,
  })
})

test('Slack with a token names the channel and shows the token to Slack only', () => {
  const rendered = render('slack', { token: 'xoxb-1234567890', channel: 'C012' })
  assert.ok(rendered.kind === 'http')
  assert.equal(rendered.url, 'https://slack.com/api/chat.postMessage')
  assert.equal(rendered.headers.authorization, 'Bearer xoxb-1234567890')
  assert.equal(JSON.parse(rendered.body).channel, 'C012')
  assert.ok(!rendered.body.includes('xoxb'))
})

test('Teams gets an Adaptive Card whose text knows no Markdown', () => {
  assert.deepEqual(bodyOf('teams', { url }), {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            {
              type: 'RichTextBlock',
              inlines: [
                { type: 'TextRun', text: 'High <b>water</b>', weight: 'Bolder', size: 'Medium', color: 'Warning' },
              ],
            },
            {
              type: 'RichTextBlock',
              inlines: [{ type: 'TextRun', text: 'Line *one*\nLine <!channel> & @\u200beveryone' }],
            },
          ],
          actions: [{ type: 'Action.OpenUrl', title: 'Open', url: 'https://example.org/gauge?a=1&b=2' }],
        },
      },
    ],
  })
})

const links = [
  'https://example.org/a_b_c?x=1*2*3&y=~z',
  'https://example.org/wiki/Water_(river)',
  'https://example.org/@here/@everyone/map#1.5/52.1/-13.2',
  'http://127.0.0.1:8080/x|y',
]

test('Discord gets the addresses in a text as they are, and the rest without marks', () => {
  const say = (message: string) =>
    bodyOf('discord', { url }, { severity: 'info', message }).embeds[0].description as string
  for (const link of links) assert.equal(say(`See _this_: ${link}, now.`), `See \\_this\\_: <${link}>, now.`)
  assert.equal(say(`(${links[0]})`), `\\(<${links[0]}>\\)`)
  assert.equal(say(`**${links[0]}**`), `\\*\\*<${links[0]}>\\*\\*`)
  assert.equal(say(`<${links[0]}>`), `\\<<${links[0]}>\\>`)
  assert.equal(say('[click](https://evil.example/a_b)'), '\\[click\\]\\(<https://evil.example/a_b>\\)')
  assert.equal(say('javascript://a_b ftp://a_b https://'), 'javascript://a\\_b ftp://a\\_b https://')
  assert.ok(say('https://a_b '.repeat(500)).length <= 4_096)
})

test('a text that is too long ends before an address rather than inside it', () => {
  const link = 'https://example.org/a_long/address?of=a&page=1'
  const say = (message: string): string =>
    bodyOf('discord', { url }, { severity: 'info', message }).embeds[0].description as string
  for (let room = 0; room < link.length + 3; room++) {
    const text = `${'x'.repeat(1_998 - room)} ${link} and more`
    const said = say(text)
    assert.equal(said, room >= link.length ? said : `${'x'.repeat(1_998 - room)} …`, `${room}`)
    assert.ok(!said.includes('http') || said.includes(`<${link}>`), said.slice(-80))
  }
  assert.equal(say(`https://example.org/${'a'.repeat(3_000)}`).length <= 4_096, true)
  const title = `See ${link}`
  assert.equal(bodyOf('discord', { url }, { severity: 'info', title }).embeds[0].title, title)
})

test('an address in a text arrives as it is written, in every service', () => {
  for (const link of links) {
    const message: Message = { severity: 'info', message: `See ${link} now, @everyone` }
    const [slack] = bodyOf('slack', { url }, message).blocks
    const [teams] = bodyOf('teams', { url }, message).attachments[0].content.body
    assert.equal(slack.text.text, `See ${link} now, @\u200beveryone`)
    assert.equal(teams.inlines[0].text, `See ${link} now, @\u200beveryone`)
    const escaped = link.replaceAll('&', '&amp;')
    const { text } = bodyOf('telegram', { botToken: 't', chatId: 1 }, message)
    const [card] = bodyOf('googlechat', { url }, message).cardsV2
    assert.equal(text, `See ${escaped} now, @\u200beveryone`)
    assert.equal(card.card.sections[0].widgets[0].textParagraph.text, `See ${escaped} now, @\u200beveryone`)
    assert.equal(bodyOf('slack', { url }, message).text, `See ${escaped} now, @\u200beveryone`)
  }
})

test('Slack’s sections end between words, so that no address is cut in two', () => {
  const message = `${links[0]} `.repeat(500)
  const texts = bodyOf('slack', { url }, { severity: 'info', message }).blocks.map(
    ({ text }: { text: { text: string } }) => text.text,
  )
  assert.ok(texts.length > 1)
  for (const text of texts) assert.match(text.trim(), /^(https:\/\/example\.org\/a_b_c\?x=1\*2\*3&y=~z\s*)+$/)
  const endless = 'x'.repeat(7_000)
  const [first, ...rest] = bodyOf('slack', { url }, { severity: 'info', message: endless }).blocks
  assert.deepEqual([first.text.text.length, rest.length], [2_900, 2])
})

test('Discord gets an embed without marks, and may mention nobody', () => {
  assert.deepEqual(bodyOf('discord', { url }), {
    embeds: [
      {
        title: 'High \\<b\\>water\\</b\\>',
        description: 'Line \\*one\\*\nLine \\<!channel\\> & @\u200beveryone',
        url: 'https://example.org/gauge?a=1&b=2',
        color: 0xf1c40f,
      },
    ],
    allowed_mentions: { parse: [] },
  })
  const bare = bodyOf('discord', { url }, { severity: 'info', url: 'https://example.org/' })
  assert.match(bare.embeds[0].description, /<https:\/\/example\.org\/>$/)
})

test('Google Chat gets a card with escaped text', () => {
  assert.deepEqual(bodyOf('googlechat', { url }), {
    cardsV2: [
      {
        cardId: 'd1',
        card: {
          sections: [
            {
              widgets: [
                { textParagraph: { text: '<b>High &lt;b&gt;water&lt;/b&gt;</b>' } },
                { textParagraph: { text: 'Line *one*<br>Line &lt;!channel&gt; &amp; @\u200beveryone' } },
                {
                  buttonList: {
                    buttons: [{ text: 'Open', onClick: { openLink: { url: 'https://example.org/gauge?a=1&b=2' } } }],
                  },
                },
              ],
            },
          ],
        },
      },
    ],
  })
})

test('Telegram gets escaped HTML, and the token stands in the address only', () => {
  const botToken = `1:${'A'.repeat(30)}`
  const rendered = render('telegram', { botToken, chatId: '@harbour' })
  assert.ok(rendered.kind === 'http')
  assert.equal(rendered.url, `https://api.telegram.org/bot${botToken}/sendMessage`)
  assert.deepEqual(JSON.parse(rendered.body), {
    chat_id: '@harbour',
    text:
      '<b>High &lt;b&gt;water&lt;/b&gt;</b>\nLine *one*\nLine &lt;!channel&gt; &amp; @\u200beveryone\n' +
      '<a href="https://example.org/gauge?a=1&amp;b=2">https://example.org/gauge?a=1&amp;b=2</a>',
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
  })
})

test('a mail has its parts in plain text and in escaped HTML', () => {
  assert.deepEqual(render('email', { addresses: ['a@example.org', 'b@example.org'] }), {
    kind: 'mail',
    to: ['a@example.org', 'b@example.org'],
    subject: 'High <b>water</b>',
    text: 'Line *one*\nLine <!channel> & @everyone\n\nhttps://example.org/gauge?a=1&b=2',
    html:
      '<h2>High &lt;b&gt;water&lt;/b&gt;</h2>\n' +
      '<p style="white-space: pre-wrap">Line *one*\nLine &lt;!channel&gt; &amp; @everyone</p>\n' +
      '<p><a href="https://example.org/gauge?a=1&amp;b=2">https://example.org/gauge?a=1&amp;b=2</a></p>',
  })
})

test('the largest message fits into every service, and no character is cut in two', () => {
  const message: Message = { title: '😀'.repeat(125), message: '😀<&*'.repeat(4_000), severity: 'error' }
  const settings: Record<string, Settings> = { telegram: { botToken: 't', chatId: 1 } }
  for (const type of ['slack', 'teams', 'discord', 'googlechat', 'telegram']) {
    const rendered = render(type, settings[type] ?? { url }, message)
    assert.ok(rendered.kind === 'http')
    assert.ok(rendered.body.isWellFormed() && !/\\ud[89a-f]/i.test(rendered.body), type)
    assert.ok(Buffer.byteLength(rendered.body) < 100_000, type)
  }
  const { blocks } = bodyOf('slack', { url }, message)
  assert.ok(blocks.length < 50 && blocks[0].text.text.length <= 150)
  assert.ok(blocks.slice(1).every(({ text }: { text: { text: string } }) => text.text.length <= 3_000))
  assert.equal(
    blocks
      .slice(1)
      .map(({ text }: { text: { text: string } }) => text.text)
      .join(''),
    message.message,
  )
  const [embed] = bodyOf('discord', { url }, message).embeds
  assert.ok(embed.title.length <= 256 && embed.description.length <= 4_096)
  const { text } = bodyOf('telegram', { botToken: 't', chatId: 1 }, message)
  assert.ok(text.replace(/<[^>]+>/g, '').replace(/&\w+;/g, '.').length <= 4_096)
})

test('no text field carries a line break or a mark to where it would mean something', () => {
  for (const title of ['a\r\nBcc: x@y.org', 'a\nb', 'a\u2028b', 'a\0b']) {
    assert.throws(() => read({ title }), { code: 'invalid_request' }, JSON.stringify(title))
    assert.throws(() => read({ subject: title }), { code: 'invalid_request' })
  }
  for (const url of ['javascript:alert(1)', 'https://u:p@example.org/', 'https://a b/', 'http://x\r\ny/', 'ftp://x/']) {
    assert.throws(() => readMessage({ message: 'x', url }), { code: 'invalid_request' }, url)
  }
  const { url: link } = readMessage({ url: 'https://example.org/"><script>|x' })
  const telegram = bodyOf('telegram', { botToken: 't', chatId: 1 }, { severity: 'info', url: link as string })
  assert.doesNotMatch(telegram.text, /"><script>/)
  const slack = bodyOf('slack', { url }, { title: 'T', severity: 'info', url: link as string })
  assert.match(slack.blocks.at(-1).text.text, /^<[^<>|]+>$/)
})

test('the aliases mean the same; two that differ, and nothing at all, are refused', () => {
  assert.deepEqual(readMessage({ text: 'x', subject: 'y' }), { message: 'x', title: 'y', severity: 'info' })
  assert.deepEqual(readMessage({ body: 'x', message: 'x' }), { message: 'x', severity: 'info' })
  assert.deepEqual(readMessage({ message: 'a\r\nb\u0007' }), { message: 'a\nb', severity: 'info' })
  assert.throws(() => readMessage({ body: 'x', message: 'y' }), { code: 'invalid_request' })
  for (const empty of [{}, { message: ' \n ' }, { title: ' ' }, { data: {} }, { severity: 'error' as const }]) {
    assert.throws(() => readMessage(empty), { code: 'invalid_request' }, JSON.stringify(empty))
  }
})

test('data alone is shown as it is written', () => {
  const message = readMessage({ data: { level: 7.2 } })
  const rendered = render('email', { addresses: ['a@example.org'] }, message)
  assert.ok(rendered.kind === 'mail')
  assert.equal(rendered.text, '{\n  "level": 7.2\n}')
})

const secret = (bytes: number) => `whsec_${Buffer.alloc(bytes, 5).toString('base64')}`
const wrong: readonly [string, Settings][] = [
  ['webhook', {}],
  ['webhook', { url: 'ftp://example.org' }],
  ['webhook', { url: 'https://user:pw@example.org/' }],
  ['webhook', { url: 'https://example.org/\r\nX: y' }],
  ['webhook', { url, secret: 'not one' }],
  ['webhook', { url, secret: secret(8) }],
  ['webhook', { url, secret: secret(65) }],
  ['webhook', { url, secret: [secret(32), secret(32), secret(32)] }],
  ['webhook', { url, headers: { 'webhook-id': 'x' } }],
  ['webhook', { url, headers: { Host: 'x' } }],
  ['webhook', { url, headers: { 'Content-Length': '1' } }],
  ['webhook', { url, headers: { 'X-A': 'x\r\nY: z' } }],
  ['webhook', { url, headers: { 'X A': 'x' } }],
  ['webhook', { url, method: 'GET' }],
  ['webhook', { url, extra: 1 }],
  ['slack', {}],
  ['slack', { url, token: 'xoxb-1234567890', channel: 'x' }],
  ['slack', { token: 'xoxb-1234567890' }],
  ['slack', { channel: 'x' }],
  ['slack', { token: 'xoxb-1234567890\r\nX: y', channel: 'x' }],
  ['telegram', { botToken: '1:../../../evil/x?aaaaaaaaaaaaaaaaaaaa', chatId: 1 }],
  ['telegram', { botToken: `1:${'A'.repeat(30)}` }],
  ['telegram', { botToken: `1:${'A'.repeat(30)}`, chatId: '@x y' }],
  ['email', { addresses: [] }],
  ['email', { addresses: ['a@example.org, b@example.org'] }],
  ['email', { addresses: ['a@example.org\r\nBcc: b@example.org'] }],
  ['email', { addresses: ['Name <a@example.org>'] }],
  ['teams', { url: 'x' }],
  ['discord', { url: 5 }],
  ['googlechat', {}],
]

test('settings that would not work, or would do harm, are refused', () => {
  for (const [type, next] of wrong) {
    assert.throws(
      () => changeSettings({ driver: driverOf(type), next, removed: [] }),
      { code: 'invalid_request' },
      JSON.stringify([type, next]),
    )
  }
})

test('a mail goes to the addresses of its contact point only', () => {
  const { checkMessage } = driverOf('email')
  const settings = { addresses: ['A@example.org', 'b@example.org'] }
  checkMessage?.({ ...full, to: ['a@Example.org'] }, settings)
  assert.throws(() => checkMessage?.({ ...full, to: ['evil@example.org'] }, settings), { code: 'invalid_request' })
})
