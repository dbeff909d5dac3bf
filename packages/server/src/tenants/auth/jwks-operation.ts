import Type from 'typebox'
import { operation } from './services.ts'

/** The public keys with which anybody can verify our access tokens (RFC 7517). */
export const jwksOperation = operation({
  id: 'auth.jwks',
  method: 'GET',
  path: '/.well-known/jwks.json',
  summary: 'The public keys of access tokens',
  access: 'public',
  success: {
    status: 200,
    description: 'A JSON Web Key Set',
    schema: Type.Object({ keys: Type.Array(Type.Record(Type.String(), Type.Unknown())) }),
  },
  handle: async ({ services: { tokenKeys } }) => ({
    headers: { 'cache-control': 'public, max-age=300' },
    body: { keys: await tokenKeys.published() },
  }),
})
