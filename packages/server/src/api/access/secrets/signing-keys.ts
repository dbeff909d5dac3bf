import { randomUUID } from 'node:crypto'
import type { CryptoKey, JWK } from 'jose'
import { createLoadingCache } from '../../../kernel/concurrency/loading-cache.ts'
import type { Db, Queryable } from '../../../kernel/db/db.ts'
import { json, raw, sql } from '../../../kernel/db/sql.ts'
import type { Secrets } from './secrets.ts'

export const tokenAlgorithm = 'EdDSA'

/** A public key that verifies tokens. */
export type VerificationKey = { readonly kid: string; readonly key: CryptoKey; readonly jwk: JWK }

/** The keys that sign access tokens (JWKS), shared by all replicas. A rotated key still verifies until its tokens expire. */
export type SigningKeys = {
  /** The key that signs now. */
  current(): Promise<{ kid: string; key: CryptoKey }>
  find(kid: string): Promise<VerificationKey | undefined>
  /** The public JWKS. */
  published(): Promise<JWK[]>
}

/** Time to live of the list of keys; an unknown key is looked up at most once in the shorter time. */
const trustMs = 60_000
const searchMs = 1_000

export function createSigningKeys(db: Db, secrets: Secrets, tokenSeconds: number): SigningKeys {
  const privateKeys = new Map<string, Promise<CryptoKey>>()
  const cache = createLoadingCache<Map<string, VerificationKey>>({ max: 1 })
  const verificationKeys = (maxAgeMs: number): Promise<Map<string, VerificationKey>> =>
    cache.get('all', () => loadVerificationKeys(db, tokenSeconds), maxAgeMs)

  return {
    async current() {
      const row = (await currentKey(db)) ?? (await firstKey(db, secrets))
      const kid = String(row.kid)
      const imported = privateKeys.get(kid) ?? importPrivate(secrets, kid, String(row.private))
      privateKeys.set(kid, imported)
      return { kid, key: await imported }
    },
    async find(kid) {
      return (await verificationKeys(trustMs)).get(kid) ?? (await verificationKeys(searchMs)).get(kid)
    },
    async published() {
      // The first key is created on first use.
      if ((await verificationKeys(searchMs)).size === 0) {
        await firstKey(db, secrets)
        cache.forget('all')
      }
      return [...(await verificationKeys(searchMs)).values()].map(({ jwk }) => jwk)
    },
  }
}

/** Key rotation. Tokens that the old key signed stay valid until they expire. */
export async function rotateSigningKey(db: Db, secrets: Secrets): Promise<string> {
  return db.transaction(async (tx) => {
    await lock(tx)
    await tx.query(sql`UPDATE svc.token_keys SET retired_at = clock_timestamp() WHERE retired_at IS NULL`)
    await tx.query(sql`DELETE FROM svc.token_keys WHERE retired_at < clock_timestamp() - interval '30 days'`)
    return String((await addKey(tx, secrets)).kid)
  })
}

type KeyRow = { kid: string; private: string }

const currentKey = async (db: Queryable): Promise<KeyRow | undefined> =>
  (await db.query<KeyRow>(sql`SELECT kid, private FROM svc.token_keys WHERE retired_at IS NULL`))[0]

/** Creates the first key, once even if several replicas start together. */
const firstKey = (db: Db, secrets: Secrets): Promise<KeyRow> =>
  db.transaction(async (tx) => {
    await lock(tx)
    return (await currentKey(tx)) ?? (await addKey(tx, secrets))
  })

const lock = (tx: Queryable) => tx.query(raw(`SELECT pg_advisory_xact_lock(hashtext('svc.token_keys'))`))

async function addKey(tx: Queryable, secrets: Secrets): Promise<KeyRow> {
  const { exportJWK, generateKeyPair } = await import('jose')
  const pair = await generateKeyPair(tokenAlgorithm, { crv: 'Ed25519', extractable: true })
  const kid = randomUUID()
  const secret = secrets.seal(JSON.stringify(await exportJWK(pair.privateKey)), associatedData(kid))
  const jwk = { ...(await exportJWK(pair.publicKey)), kid, alg: tokenAlgorithm, use: 'sig' }
  await tx.query(sql`INSERT INTO svc.token_keys (kid, public, private) VALUES (${kid}, ${json(jwk)}, ${secret})`)
  return { kid, private: secret }
}

async function loadVerificationKeys(db: Db, tokenSeconds: number): Promise<Map<string, VerificationKey>> {
  const rows = await db.query<{ kid: string; public: JWK }>(sql`
    SELECT kid, public FROM svc.token_keys
    WHERE retired_at IS NULL OR retired_at > clock_timestamp() - make_interval(secs => ${tokenSeconds})
    ORDER BY created_at DESC`)
  const { importJWK } = await import('jose')
  const keys = rows.map(async ({ kid, public: jwk }): Promise<[string, VerificationKey]> => {
    return [kid, { kid, jwk, key: (await importJWK(jwk, tokenAlgorithm)) as CryptoKey }]
  })
  return new Map(await Promise.all(keys))
}

async function importPrivate(secrets: Secrets, kid: string, sealed: string): Promise<CryptoKey> {
  const { importJWK } = await import('jose')
  return (await importJWK(JSON.parse(secrets.open(sealed, associatedData(kid))), tokenAlgorithm)) as CryptoKey
}

const associatedData = (kid: string): string => `token_keys.private.${kid}`
