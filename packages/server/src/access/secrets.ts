import { createCipheriv, createDecipheriv, createSecretKey, hash, hkdfSync, randomBytes } from 'node:crypto'

/** Encrypts what must be kept but not read by whoever holds a copy of the database. */
export type Secrets = {
  /** `place` names the row and column: a value moved elsewhere does not open. */
  seal(plain: string, place: string): string
  open(sealed: string, place: string): string
  /** A secret that follows from this one, and is therefore kept nowhere. */
  derive(purpose: string): string
  /** Tells two secrets apart without telling them. */
  readonly fingerprint: string
}

/** `secret` is any text of at least 32 characters. */
export function createSecrets(secret: string): Secrets {
  const bytes = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, 'graticule', purpose, 32))
  // An object: bytes would be made one for every value.
  const key = createSecretKey(bytes('seal v1'))
  return {
    seal(plain, place) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place))
      const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `v1.${nonce.toString('base64url')}.${sealed.toString('base64url')}`
    },
    open(sealed, place) {
      const [version, nonce, body] = sealed.split('.')
      if (version !== 'v1' || !nonce || !body) throw new Error('A sealed value has an unknown form')
      const whole = Buffer.from(body, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), { authTagLength: 16 })
      decipher.setAAD(Buffer.from(place)).setAuthTag(whole.subarray(-16))
      return Buffer.concat([decipher.update(whole.subarray(0, -16)), decipher.final()]).toString('utf8')
    },
    derive: (purpose) => bytes(`derived ${purpose}`).toString('base64url'),
    fingerprint: bytes('fingerprint').toString('hex').slice(0, 32),
  }
}

/** A credential with 122 random bits or more needs no salt and no slow hash. */
export const credentialHash = (credential: string): Buffer => hash('sha256', credential, 'buffer')
