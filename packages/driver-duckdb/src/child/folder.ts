import { createHash } from 'node:crypto'
import { type BigIntStats, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DuckdbFault } from '../fault.ts'
import { formatOf } from '../file-format.ts'
import type { FileFormat, RefusedFile } from '../messages.ts'
import { systemName } from './sql/syntax-tree.ts'

/** The files of a folder that can be tables, with names for them. Only what lies in the folder itself, and no links. */
export type FolderFile = {
  readonly file: string
  readonly path: string
  readonly format: FileFormat
  readonly bytes: number
  /** Changes with the file. */
  readonly fingerprint: string
  /** Of its table; for a database, what the names of its tables begin with. */
  readonly name: string
}

export type Folder = {
  readonly files: readonly FolderFile[]
  readonly refused: readonly RefusedFile[]
  readonly fingerprint: string
}

const maxFiles = 500

const geojson = /\.(geojson|geojsonl|geojsons)(\.gz)?$/i

export const geojsonReason =
  'GeoJSON is not read here. Upload it as a dataset, or convert it to GeoParquet and put that into the folder.'

export function readFolder(directory: string): Folder {
  const refused: RefusedFile[] = []
  const dataFiles: Omit<FolderFile, 'name'>[] = []
  for (const file of listed(directory)) {
    const path = join(directory, file)
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    if (!stats || stats.isDirectory() || file.startsWith('.')) continue
    const format = formatOf(file)
    if (geojson.test(file)) refused.push({ file, reason: geojsonReason })
    else if (format && !stats.isFile()) refused.push({ file, reason: 'It is a link or another special file.' })
    else if (format)
      dataFiles.push({ file, path, format, bytes: Number(stats.size), fingerprint: fingerprintOf(stats) })
  }
  if (dataFiles.length > maxFiles) {
    throw new DuckdbFault(
      'folder',
      `The folder has ${dataFiles.length} files of data; at most ${maxFiles} are allowed.`,
    )
  }
  const files = named(dataFiles)
  const parts = files.map(({ file, fingerprint }) => `${file}\n${fingerprint}`)
  return { files, refused, fingerprint: parts.join('\n') }
}

function listed(directory: string): string[] {
  try {
    return readdirSync(directory).sort()
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw new DuckdbFault('folder', isAbsent ? 'The folder does not exist.' : 'The folder cannot be read.')
  }
}

const fingerprintOf = ({ dev, ino, mtimeNs, size }: BigIntStats): string => `${dev}:${ino}:${mtimeNs}:${size}`

/**
 * Names that no file can take from another: where two files would have one name, both get a longer one, so that a file that is
 * added never becomes the table that a dataset read before.
 */
function named(files: readonly Omit<FolderFile, 'name'>[]): FolderFile[] {
  const forms = [stemName, fullName, hashedName]
  let names = files.map(({ file }) => stemName(file))
  for (const longer of forms.slice(1)) {
    const counts = Map.groupBy(names, (name) => name)
    names = names.map((name, index) => ((counts.get(name)?.length ?? 0) > 1 ? longer(files[index]?.file ?? '') : name))
  }
  return files.map((file, index) => ({ ...file, name: names[index] ?? '' }))
}

const stemName = (file: string): string => safeName(file.replace(/\.gz$/i, '').replace(/\.[^.]+$/, ''))
const fullName = (file: string): string => safeName(file)
const hashedName = (file: string): string =>
  `${safeName(file)}_${createHash('sha256').update(file).digest('hex').slice(0, 8)}`

const maxNameLength = 100

/** Lower-case letters, digits and `_`, not beginning with a digit. */
export function safeName(text: string): string {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const name = plain
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, maxNameLength)
  return /^[a-z]/.test(name) && !systemName.test(name) ? name : `t_${name}`
}
