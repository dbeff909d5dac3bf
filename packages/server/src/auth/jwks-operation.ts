import Type from 'typebox'
import { type Operation, operation } from '../http/operation.ts'
import type { AuthParts } from './parts.ts'

/** The public keys with which anybody can verify our access tokens (RFC 7517). */
export const jwksOperation = ({ tokenKeys }: Pick<AuthParts, 'tokenKeys'>): Operation =>
  operation({
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
    handle: async () => ({
      headers: { 'cache-control': 'public, max-age=300' },
      body: { keys: await tokenKeys.published() },
    }),
  })
