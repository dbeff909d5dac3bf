import { createHmac } from 'node:crypto'
import Type from 'typebox'
import { invalid } from '../../../kernel/errors.ts'
import type { ContactPointDriver } from '../driver.ts'
import type { Message } from '../message.ts'
import { readUrl, urlSetting } from '../url-setting.ts'

const secret = Type.String({
  maxLength: 200,
  pattern: '^whsec_[A-Za-z0-9+/]+={0,2}$',
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
})

/** They belong to the connection, to the body or to the signature. */
const reservedHeaders =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|keep-alive|expect|accept-encoding|proxy-.*|webhook-.*)$/i

/** https://www.standardwebhooks.com */
export const webhook: ContactPointDriver = {
  settings: Type.Object(
    {
      url: urlSetting('Where the message goes'),
      method: Type.Optional(Type.Enum(['POST', 'PUT', 'PATCH'], { default: 'POST' })),
      secret: Type.Optional(
        Type.Union([secret, Type.Array(secret, { minItems: 1, maxItems: 2 })], {
          description: '`whsec_` and 24 to 64 bytes in base64; two of them while one replaces the other',
        }),
      ),
      headers: Type.Optional(
        Type.Record(
          Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$' }),
          Type.String({ pattern: '^[\\x20-\\x7e]{0,2000}$', maxLength: 2_000 }),
          {
            description: 'More headers of the request',
            additionalProperties: false,
            maxProperties: 20,
          },
        ),
      ),
    },
    { additionalProperties: false },
  ),
  secretFields: ['secret', 'headers'],
  boundTo: { headers: 'url' },
  check({ url, secret, headers }) {
    readUrl('body/settings/url', String(url))
    for (const text of secretsOf(secret)) {
      const { length } = keyOf(text)
      if (length < 24 || length > 64)
        throw invalid('body/settings/secret', 'must be whsec_ followed by 24 to 64 bytes in base64')
    }
    const reserved = Object.keys(headers ?? {}).find((name) => reservedHeaders.test(name))
    if (reserved) throw invalid(`body/settings/headers/${reserved}`, 'must not be set: the service sets it itself')
  },
  render(message, { url, method = 'POST', secret, headers }, { id, acceptedAt, now }) {
    const { type, data } = message.event ?? messageEvent(message)
    const body = JSON.stringify({ type, timestamp: acceptedAt.toISOString(), data })
    const timestamp = String(Math.floor(now.getTime() / 1000))
    const signatures = secretsOf(secret).map((text) => sign(text, `${id}.${timestamp}.${body}`))
    return {
      kind: 'http',
      url: String(url),
      method: String(method),
      headers: {
        ...(headers as Record<string, string> | undefined),
        'content-type': 'application/json; charset=utf-8',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        ...(signatures.length > 0 && { 'webhook-signature': signatures.join(' ') }),
      },
      body,
    }
  },
}

const messageEvent = ({ title, message, severity, url, data }: Message) => ({
  type: 'contactpoint.message',
  data: { title, message, severity, url, data },
})

const sign = (secret: string, content: string): string =>
  `v1,${createHmac('sha256', keyOf(secret)).update(content).digest('base64')}`

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice('whsec_'.length), 'base64')

function secretsOf(secret: unknown): string[] {
  if (Array.isArray(secret)) return secret.map(String)
  return typeof secret === 'string' ? [secret] : []
}
