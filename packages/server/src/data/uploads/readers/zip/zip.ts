import { open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Entry, getFileNameLowLevel, openPromise, type ZipFile } from 'yauzl'
import { type ReaderOptions, ReadFault } from '../reader.ts'
import { broken, openPacked, type PackedFile, quoted } from './entry.ts'

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

/** The files of the archive without folders, archives within it and the litter of operating systems, where they lie in it. Refuses whatever is not plain. */
export async function packedFiles(archive: string, limits: ZipLimits = zipLimits): Promise<readonly PackedFile[]> {
  return withZip(archive, async (zip) => {
    const files: PackedFile[] = []
    for (const { name, entry } of await plainEntries(zip, archive, limits)) {
      const { fileDataStart: start } = await zip.readLocalFileHeaderPromise(entry, { minimal: true }).catch(broken)
      const { compressedSize: packedBytes, uncompressedSize: bytes, crc32: sum } = entry
      files.push({ name, archive, start, packedBytes, bytes, sum, isDeflated: entry.compressionMethod === 8 })
    }
    return files
  })
}

/** What all files of the archive are called, those among them that are passed over. */
export async function fileNames(archive: string): Promise<string[]> {
  return withZip(archive, async (zip) => {
    const names: string[] = []
    try {
      for await (const entry of zip.eachEntry()) {
        const name = checkedName(entry)
        if (names.length >= zipLimits.entries) throw tooMuch(`more than ${zipLimits.entries} entries`)
        if (!name.endsWith('/')) names.push(name)
      }
    } catch (error) {
      broken(error)
    }
    return names
  })
}

type UnpackOptions = Partial<Pick<ReaderOptions, 'signal' | 'onAdvance'>>
type UnzipOptions = UnpackOptions & { limits?: ZipLimits }

/**
 * Unpacks the archive into the directory. Names of the archive never reach the disk: the files are called e0, e1, ….
 * When it is refused, nothing of it is left.
 */
export async function unzip(
  archive: string,
  directory: string,
  { limits = zipLimits, ...options }: UnzipOptions = {},
): Promise<readonly UnzippedFile[]> {
  return unpackFiles(await packedFiles(archive, limits), directory, options)
}

/** The same of files that were found in an archive. */
export async function unpackFiles(
  packed: readonly PackedFile[],
  directory: string,
  options: UnpackOptions = {},
): Promise<readonly UnzippedFile[]> {
  const files: UnzippedFile[] = []
  try {
    for (const [index, file] of packed.entries()) {
      const { name, bytes } = file
      const path = join(directory, `e${index}`)
      files.push({ name, path, bytes })
      await unpack(file, path, options)
    }
    return files
  } catch (error) {
    for (const { path } of files) await rm(path, { force: true })
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
  return withoutArchives(listed)
}

function withoutArchives(listed: Listed[]): Listed[] {
  const files = listed.filter(({ name }) => !isArchive(name))
  if (files.length === 0 && listed[0]) throw nestedArchive(listed[0].name)
  return files
}

function tooMuch(what: string): ReadFault {
  return new ReadFault('zip_limit', `The archive has ${what}, the limit.`)
}

/** The name of an entry that is a plain file or folder inside the archive, whose content can be read. */
function checkedName(entry: Entry): string {
  const name = getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, true)
  const refuse = (why: string, code: 'invalid_zip' | 'zip_encrypted' = 'invalid_zip') =>
    new ReadFault(code, `The archive's entry ${quoted(name)} ${why}.`)
  if (!name || /[\0\\]/.test(name)) throw refuse('has an empty name, or one with NUL or a backslash')
  if (name.startsWith('/') || /^[A-Za-z]:/.test(name)) throw refuse('has an absolute path')
  if (name.split('/').includes('..')) throw refuse('has a path that leads out of the archive')
  const kind = (entry.externalFileAttributes >>> 16) & 0xf000
  if (kind !== 0 && kind !== 0x8000 && kind !== 0x4000) throw refuse('is a link or a device, not a file')
  if (entry.isEncrypted()) throw refuse('is encrypted; pack it without a password', 'zip_encrypted')
  if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8)
    throw refuse('is compressed by a method other than deflate')
  return name
}

/** Workbooks are archives, too. */
export const isArchive = (name: string): boolean =>
  /\.(zip|kmz|gz|tgz|bz2|xz|7z|rar|zst|xlsx|xlsm|ods)$/i.test(name) && !isLitter(name)

export const nestedArchive = (name: string): ReadFault =>
  new ReadFault('invalid_zip', `The archive's entry ${quoted(name)} is an archive itself; unpack it first.`)

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

/** Unpacked in large pieces: each goes through several hands. */
const pieceBytes = 512 * 1024

async function unpack(file: PackedFile, path: string, { signal, onAdvance }: UnpackOptions): Promise<void> {
  const source = await openPacked(file)
  try {
    const target = await open(path, 'wx', 0o600)
    try {
      const room = Buffer.allocUnsafeSlow(pieceBytes)
      for (let at = 0; at < file.bytes; ) {
        signal?.throwIfAborted()
        const count = await source.read(room, at)
        if (count === 0) break
        await target.writeFile(room.subarray(0, count))
        at += count
        onAdvance?.(count)
      }
    } finally {
      await target.close()
    }
    await source.verify?.()
  } finally {
    await source.close()
  }
}
