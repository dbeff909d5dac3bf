import { credentialHash, type Secrets } from '../../api/access/secrets/secrets.ts'
import type { Row } from '../../kernel/db/db.ts'

/** The stored form of a key: a hash to look it up, and an encrypted copy for those who may see it. */
export function sealKey(secrets: Secrets, id: string): { hash: Buffer; secret: string } {
  const hash = credentialHash(id)
  return { hash, secret: secrets.seal(id, associatedData(hash)) }
}

export function openKey(secrets: Secrets, row: Row): string {
  return secrets.open(String(row.secret), associatedData(row.hash as Uint8Array))
}

const associatedData = (hash: Uint8Array): string => `apikeys.secret.${Buffer.from(hash).toString('hex')}`
