import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'

/** Authenticated encryption (AES-GCM) of stored secrets, so that a copy of the database does not reveal them. */
export type Secrets = {
  /** `place` names the row and column (associated data): a value copied to another place does not decrypt. */
  seal(plain: string, associatedData: string): string
  open(sealed: string, associatedData: string): string
  /** Key derivation (HKDF): a secret that is stored nowhere. */
  derive(purpose: string): string
  /** HMAC-SHA-256: a digest that nobody without the secret can compute, and that is the same on all replicas. */
  authenticate(purpose: string, text: string): string
  /** Distinguishes two secrets without revealing them. */
  readonly fingerprint: string
}

/** `secret` is any text of at least 32 characters. */
export function createSecrets(secret: string): Secrets {
  const bytes = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, 'graticule', purpose, 32))
  // A key object, or Node would make one from the bytes for every value.
  const key = createSecretKey(bytes('seal v1'))
  const macKeys = new Map<string, KeyObject>()
  const macKey = (purpose: string): KeyObject => {
    const made = macKeys.get(purpose) ?? createSecretKey(bytes(`authenticate ${purpose}`))
    macKeys.set(purpose, made)
    return made
  }
  return {
    seal(plain, associatedData) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(associatedData))
      const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `v1.${nonce.toString('base64url')}.${sealed.toString('base64url')}`
    },
    open(sealed, associatedData) {
      const [version, nonce, body] = sealed.split('.')
      if (version !== 'v1' || !nonce || !body) throw new Error('A sealed value has an unknown form')
      const whole = Buffer.from(body, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), { authTagLength: 16 })
      decipher.setAAD(Buffer.from(associatedData)).setAuthTag(whole.subarray(-16))
      return Buffer.concat([decipher.update(whole.subarray(0, -16)), decipher.final()]).toString('utf8')
    },
    derive: (purpose) => bytes(`derived ${purpose}`).toString('base64url'),
    authenticate: (purpose, text) => createHmac('sha256', macKey(purpose)).update(text).digest('hex'),
    fingerprint: bytes('fingerprint').toString('hex').slice(0, 32),
  }
}

/** Without salt and slow hash: credentials have at least 122 random bits. */
export const credentialHash = (credential: string): Buffer => hash('sha256', credential, 'buffer')
