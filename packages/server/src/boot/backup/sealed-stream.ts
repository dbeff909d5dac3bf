import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  randomBytes,
  type ScryptOptions,
  scrypt,
  timingSafeEqual,
} from 'node:crypto'
import { promisify } from 'node:util'
import { StartError } from '../../kernel/errors.ts'

/**
 * Streaming authenticated encryption of a backup: AES-256-GCM over chunks of equal size (the STREAM construction), under a key
 * that scrypt makes of the passphrase and a random salt. The nonce is the number of the chunk and whether it is the last, so
 * that chunks that are changed, exchanged, left out or cut off fail, and so does anything behind the last one.
 */
export const chunkLength = 256 * 1024
const tagLength = 16

/** Header: 16 bytes of name, version, log2 of scrypt's N, 32 bytes of salt, 16 bytes that tell the right passphrase. */
const magic = Buffer.from('graticule backup')
const version = 1
const saltLength = 32
const unsignedLength = magic.length + 2 + saltLength
const checkLength = 16
export const headerLength = unsignedLength + checkLength

/** 128 MB of memory and a third of a second for each guess at the passphrase. */
const defaultCost = 17
/** What a header may ask for: no less than makes guessing slow, no more than 1 GB. */
const leastCost = 14
const mostCost = 20

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)

async function deriveKeys(passphrase: string, salt: Buffer, cost: number): Promise<{ key: Buffer; checkKey: Buffer }> {
  const N = 2 ** cost
  const derived = await derive(passphrase.normalize('NFC'), salt, 64, { N, r: 8, p: 1, maxmem: 256 * 8 * N })
  return { key: derived.subarray(0, 32), checkKey: derived.subarray(32) }
}

const checkOf = (unsigned: Buffer, checkKey: Buffer): Buffer =>
  createHmac('sha256', checkKey).update(unsigned).digest().subarray(0, checkLength)

function nonceOf(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUIntBE(index, 5, 6)
  nonce[11] = isLast ? 1 : 0
  return nonce
}

/** Makes the transform that encrypts. A lower `cost` is for tests. */
export async function createSealer(passphrase: string, cost = defaultCost) {
  const unsigned = Buffer.concat([magic, Buffer.from([version, cost]), randomBytes(saltLength)])
  const { key, checkKey } = await deriveKeys(passphrase, unsigned.subarray(-saltLength), cost)
  const header = Buffer.concat([unsigned, checkOf(unsigned, checkKey)])
  return async function* seal(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
    yield header
    let index = 0
    for await (const { bytes, isLast } of pieces(source, chunkLength)) {
      const cipher = createCipheriv('aes-256-gcm', key, nonceOf(index++, isLast))
      yield Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
    }
  }
}

/** Makes the transform that decrypts what follows the header. */
export async function createOpener(passphrase: string, header: Buffer) {
  const { cost, salt } = readHeader(header)
  const { key, checkKey } = await deriveKeys(passphrase, salt, cost)
  if (!timingSafeEqual(checkOf(header.subarray(0, unsignedLength), checkKey), header.subarray(unsignedLength))) {
    throw new StartError('The passphrase is not the one of this backup, or the beginning of the file is damaged.')
  }
  return async function* open(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
    let index = 0
    for await (const { bytes, isLast } of pieces(source, chunkLength + tagLength)) {
      yield openChunk(bytes, key, nonceOf(index++, isLast))
    }
  }
}

function readHeader(header: Buffer): { cost: number; salt: Buffer } {
  if (header.length < headerLength || !header.subarray(0, magic.length).equals(magic)) {
    throw new StartError('This file is not a backup of Graticule, or its beginning is damaged.')
  }
  const [format, cost = 0] = header.subarray(magic.length)
  if (format !== version) {
    throw new StartError(
      `This backup has the format ${format}; this program reads format ${version}. Use a newer version.`,
    )
  }
  if (cost < leastCost || cost > mostCost) throw new StartError('The beginning of the backup is damaged.')
  return { cost, salt: header.subarray(magic.length + 2, unsignedLength) }
}

function openChunk(chunk: Buffer, key: Buffer, nonce: Buffer): Buffer {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagLength })
    decipher.setAuthTag(chunk.subarray(-tagLength))
    return Buffer.concat([decipher.update(chunk.subarray(0, -tagLength)), decipher.final()])
  } catch {
    throw damaged()
  }
}

export const damaged = () =>
  new StartError('The backup is damaged or incomplete: its content is not what was written. Use another copy.')

/** Pieces of exactly this length; the last one, which may be shorter and is there even for nothing, is marked. */
async function* pieces(
  source: AsyncIterable<Uint8Array>,
  length: number,
): AsyncGenerator<{ bytes: Buffer; isLast: boolean }> {
  let parts: Uint8Array[] = []
  let collected = 0
  for await (const part of source) {
    parts.push(part)
    collected += part.length
    // More than one piece: what is left then is not empty, so the piece is not the last.
    if (collected <= length) continue
    const all = Buffer.concat(parts, collected)
    let start = 0
    for (; collected - start > length; start += length)
      yield { bytes: all.subarray(start, start + length), isLast: false }
    parts = [all.subarray(start)]
    collected -= start
  }
  yield { bytes: Buffer.concat(parts, collected), isLast: true }
}
