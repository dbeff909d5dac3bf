// AWS Signature Version 4 of GET requests to S3.
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'

export type S3Key = { readonly accessKeyId: string; readonly secretAccessKey: string }

type Request = {
  readonly url: URL
  /** As they stand in the address, not yet encoded. */
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
}

/** The headers of a signed GET. `host` is signed too, and is not among them: the connection sends it. */
export async function signedHeaders(
  { url, query, headers }: Request,
  { key, region, date = new Date() }: { readonly key: S3Key; readonly region: string; readonly date?: Date },
): Promise<Record<string, string>> {
  // Imported on demand: it takes 3 MB of heap, and most servers never sign a request.
  const { SignatureV4 } = await import('@smithy/signature-v4')
  // S3 signs the path as it is sent; other services of AWS encode it once more.
  const signer = new SignatureV4({ service: 's3', region, credentials: key, sha256: Sha256, uriEscapePath: false })
  const { protocol, hostname, pathname: path, host } = url
  const request = { method: 'GET', protocol, hostname, path, query, headers: { ...headers, host } }
  const { host: _, ...signed } = (await signer.sign(request, { signingDate: date })).headers
  return signed
}

/** SHA-256, or its HMAC where there is a secret, as the signer wants it. */
class Sha256 {
  readonly #hash: Hash | Hmac
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret))
  }
  update(chunk: Uint8Array): void {
    this.#hash.update(chunk)
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }
  reset(): void {
    throw new Error('A hash is used once.')
  }
}

function bytesOf(secret: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof secret === 'string') return Buffer.from(secret)
  if (ArrayBuffer.isView(secret)) return new Uint8Array(secret.buffer, secret.byteOffset, secret.byteLength)
  return new Uint8Array(secret)
}
