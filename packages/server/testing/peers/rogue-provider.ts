import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type JWTPayload, SignJWT } from 'jose'

type Json = Readonly<Record<string, unknown>>
/** An object is sent as JSON; a function answers itself. */
type RogueAnswer = Json | ((response: ServerResponse) => unknown)

export type RogueProvider = {
  readonly issuer: string
  readonly requests: string[]
  /** What it answers to a path, in place of what an honest provider would. */
  readonly answers: Map<string, RogueAnswer>
  /** An ID token by its key; `header` says otherwise than it is. */
  sign(claims: JWTPayload, header?: Json): Promise<string>
  close(): Promise<void>
}

/** A provider that answers what a test wants it to. */
export async function rogueProvider(): Promise<RogueProvider> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const requests: string[] = []
  const answers = new Map<string, RogueAnswer>()
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?')
    requests.push(path)
    const answer = answers.get(path)
    if (typeof answer === 'function') return void answer(response)
    if (!answer) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  answers.set('/.well-known/openid-configuration', {
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256', 'HS256', 'none'],
  })
  answers.set('/jwks', { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'rogue', use: 'sig', alg: 'ES256' }] })
  return {
    issuer,
    requests,
    answers,
    sign(claims, header) {
      const now = Math.floor(Date.now() / 1_000)
      return new SignJWT({ iss: issuer, iat: now, exp: now + 300, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'rogue', ...header })
        .sign(privateKey)
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
