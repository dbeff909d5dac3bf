import { createWriteStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { crc32, createInflateRaw } from 'node:zlib'
import { type Entry, getFileNameLowLevel, openPromise, type ZipFile } from 'yauzl'
import { ReadFault } from './reader.ts'

/** A file of an archive: what it was called there, and where it lies now. */
export type UnzippedFile = { readonly name: string; readonly path: string; readonly bytes: number }

export const zipLimits = {
  entries: 1_000,
  expandedBytes: 4 * 1024 ** 3,
  ratio: 200,
  /** Below this an archive may be as dense as it likes: blank columns of a small .dbf are. */
  ratioFreeBytes: 10 * 1024 ** 2,
}

export type ZipLimits = typeof zipLimits

type Listed = { readonly name: string; readonly entry: Entry }

/** What the archive holds, without folders and the litter of operating systems. Refuses whatever is not plain. */
export async function listZip(archive: string, limits: ZipLimits = zipLimits): Promise<readonly string[]> {
  return withZip(archive, async (zip) => (await plainEntries(zip, archive, limits)).map(({ name }) => name))
}

/**
 * Unpacks the archive into the directory. Names of the archive never reach the disk: the files are called e0, e1, ….
 * When it is refused, nothing of it is left.
 */
export async function unzip(
  archive: string,
  directory: string,
  { limits = zipLimits, signal }: { limits?: ZipLimits; signal?: AbortSignal } = {},
): Promise<readonly UnzippedFile[]> {
  const files: UnzippedFile[] = []
  let path = ''
  try {
    await withZip(archive, async (zip) => {
      for (const [index, { name, entry }] of (await plainEntries(zip, archive, limits)).entries()) {
        path = join(directory, `e${index}`)
        await unpack(zip, entry, name, path, signal)
        files.push({ name, path, bytes: entry.uncompressedSize })
      }
    })
    return files
  } catch (error) {
    for (const file of [path, ...files.map((written) => written.path)]) if (file) await rm(file, { force: true })
    throw error
  }
}

async function withZip<T>(archive: string, use: (zip: ZipFile) => Promise<T>): Promise<T> {
  const zip = await openPromise(archive, { autoClose: false, decodeStrings: false, validateEntrySizes: true }).catch(
    broken,
  )
  try {
    return await use(zip)
  } finally {
    zip.close()
  }
}

function broken(error: unknown): never {
  if (error instanceof ReadFault || !(error instanceof Error) || error.name === 'AbortError') throw error
  if ('code' in error && typeof error.code === 'string' && /^E[A-Z]+$/.test(error.code)) throw error
  throw new ReadFault('invalid_zip', `The archive is damaged: ${error.message}.`)
}

async function plainEntries(zip: ZipFile, archive: string, limits: ZipLimits): Promise<Listed[]> {
  if (zip.entryCount > limits.entries) throw tooMuch(`more than ${limits.entries} entries`)
  const seen = new Set<string>()
  const listed: Listed[] = []
  let expanded = 0
  try {
    for await (const entry of zip.eachEntry()) {
      if (seen.size >= limits.entries) throw tooMuch(`more than ${limits.entries} entries`)
      const name = checkedName(entry)
      if (seen.has(name)) throw new ReadFault('invalid_zip', `The archive has two entries called ${quoted(name)}.`)
      seen.add(name)
      expanded += entry.uncompressedSize
      if (expanded > limits.expandedBytes) throw tooMuch(`more than ${limits.expandedBytes} bytes when unpacked`)
      if (!name.endsWith('/') && !isLitter(name)) listed.push({ name, entry })
    }
  } catch (error) {
    broken(error)
  }
  const { size } = await stat(archive)
  if (expanded > limits.ratioFreeBytes && expanded > size * limits.ratio)
    throw tooMuch(`more than ${limits.ratio} times its size when unpacked`)
  return listed
}

function tooMuch(what: string): ReadFault {
  return new ReadFault('zip_limit', `The archive has ${what}.`)
}

/** The name of an entry that is a plain file or folder inside the archive, whose content can be read. */
function checkedName(entry: Entry): string {
  const name = getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, true)
  const refuse = (why: string, code: 'invalid_zip' | 'zip_encrypted' = 'invalid_zip') =>
    new ReadFault(code, `The archive's entry ${quoted(name)} ${why}.`)
  if (!name || /[\0\\]/.test(name)) throw refuse('has a name that is not allowed')
  if (name.startsWith('/') || /^[A-Za-z]:/.test(name)) throw refuse('has an absolute path')
  if (name.split('/').includes('..')) throw refuse('leads out of the archive')
  const kind = (entry.externalFileAttributes >>> 16) & 0xf000
  if (kind !== 0 && kind !== 0x8000 && kind !== 0x4000) throw refuse('is a link or a device, not a file')
  if (entry.isEncrypted()) throw refuse('is encrypted', 'zip_encrypted')
  if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8) throw refuse('is compressed in an unknown way')
  if (/\.(zip|kmz|gz|tgz|bz2|xz|7z|rar|zst)$/i.test(name) && !isLitter(name))
    throw refuse('is an archive itself; unpack it first')
  return name
}

/** Files that nobody means to upload, office documents that lie beside the data among them. */
function isLitter(name: string): boolean {
  const parts = name.split('/')
  const last = parts.at(-1) ?? ''
  return (
    parts[0] === '__MACOSX' ||
    parts.some((part) => part.startsWith('._')) ||
    /^(\.DS_Store|Thumbs\.db|desktop\.ini)$/i.test(last) ||
    /\.(docx|pptx|odt|odp|pdf)$/i.test(last)
  )
}

/** A name as it may stand in a message. */
function quoted(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)
}

/** Unpacked in large pieces: each goes through several hands. */
const pieceBytes = 128 * 1024

async function unpack(zip: ZipFile, entry: Entry, name: string, path: string, signal?: AbortSignal): Promise<void> {
  let sum = 0
  let total = 0
  let first = true
  const checks = new Transform({
    transform(chunk: Buffer, _, done) {
      if (first && chunk.length >= 4 && chunk.readUInt32LE(0) === 0x04034b50)
        return done(new ReadFault('invalid_zip', `The archive's entry ${quoted(name)} is an archive itself.`))
      first = false
      total += chunk.length
      if (total > entry.uncompressedSize)
        return done(new ReadFault('invalid_zip', `The archive's entry ${quoted(name)} is larger than it says.`))
      sum = crc32(chunk, sum)
      done(null, chunk)
    },
  })
  try {
    const source = await zip.openReadStreamPromise(entry, { decodeFileData: false })
    await pipeline(
      source,
      entry.compressionMethod === 8 ? createInflateRaw({ chunkSize: pieceBytes }) : new PassThrough(),
      checks,
      createWriteStream(path, { flags: 'wx', mode: 0o600, highWaterMark: 4 * pieceBytes }),
      ...(signal ? [{ signal }] : []),
    )
  } catch (error) {
    broken(error)
  }
  if (sum !== entry.crc32 || total !== entry.uncompressedSize)
    throw new ReadFault('invalid_zip', `The archive's entry ${quoted(name)} is damaged.`)
}
