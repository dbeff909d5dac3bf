/** The draft of a database connection, and its requests. */
import type { Database, DatabaseCreate, DatabasePatch } from '@graticule/client'
import { type FileField, type FilePlace, filePlaceOf, filePlaces } from './file-places.ts'

export type TlsMode = '' | 'verify-full' | 'require' | 'disable'

export interface DatabaseDraft {
  type: Database['type']
  name: string
  description: string
  /** Single fields, or one connection string. */
  way: 'parts' | 'string'
  host: string
  port: string
  user: string
  /** Empty: the stored one is kept. */
  password: string
  db: string
  connectionString: string
  /** Empty: the server decides by the address. */
  tls: TlsMode
  /** PEM certificates of trusted authorities. */
  authorities: string
  /** Where the files of a `duckdb` database are. */
  place: FilePlace
  /** Of a bucket. Empty: the server's default. */
  region: string
  /** Names of files, one per line. */
  files: string
  isDefault: boolean
}

export const newDraft: DatabaseDraft = {
  ...{ type: 'postgres', name: '', description: '', way: 'parts', host: '', port: '5432', user: '', password: '' },
  ...{ db: '', connectionString: '', tls: '', authorities: '', place: 'folder', region: '', files: '' },
  isDefault: false,
}

export function draftOf({ type, name, description, host, port, user, db, metadata, ...rest }: Database): DatabaseDraft {
  return {
    ...newDraft,
    ...{ type, name, description, host, user, db },
    port: String(port),
    tls: tlsModes.find((mode) => mode === metadata.ssl) ?? '',
    authorities: typeof metadata.sslCa === 'string' ? metadata.sslCa : '',
    place: filePlaceOf(db),
    region: typeof metadata.region === 'string' ? metadata.region : '',
    files: Array.isArray(metadata.files) ? metadata.files.join('\n') : '',
    isDefault: rest.default,
  }
}

export const tlsModes: readonly TlsMode[] = ['', 'verify-full', 'require', 'disable']

export function createOf(draft: DatabaseDraft): DatabaseCreate {
  const { type, name, description, isDefault, tls, authorities } = draft
  const metadata = { ...(tls && { ssl: tls }), ...(authorities.trim() && { sslCa: authorities.trim() }) }
  return {
    ...{ type, name: name.trim() },
    ...(description.trim() && { description: description.trim() }),
    ...(isDefault && { default: true }),
    ...(type === 'postgres' && placeOf(draft)),
    ...(type === 'duckdb' && filesOf(draft)),
    ...(type === 'postgres' && Object.keys(metadata).length > 0 && { metadata }),
  }
}

/** Only the differences. The server requires the password again if the destination changes. */
export function patchOf(draft: DatabaseDraft, stored: Database): DatabasePatch {
  const old = draftOf(stored)
  const { name, description, isDefault, tls, authorities } = draft
  const isPostgres = draft.type === 'postgres'
  return {
    ...(name.trim() !== old.name && { name: name.trim() }),
    ...(description.trim() !== old.description && { description: description.trim() }),
    ...(isDefault !== old.isDefault && { default: isDefault }),
    ...(isPostgres && draft.way === 'string' && { connectionString: draft.connectionString.trim() }),
    ...(isPostgres && draft.way === 'parts' && changedParts(draft, old)),
    ...(draft.type === 'duckdb' && changedFiles(draft, old)),
    ...(isPostgres &&
      (tls !== old.tls || authorities.trim() !== old.authorities.trim()) && {
        metadata: { ssl: tls || null, sslCa: authorities.trim() || null },
      }),
  }
}

function placeOf({ way, connectionString, host, port, user, password, db }: DatabaseDraft): Partial<DatabaseCreate> {
  if (way === 'string') return { connectionString: connectionString.trim() }
  return { host: host.trim(), port: Number(port), user: user.trim(), db: db.trim(), ...(password && { password }) }
}

/** Only what the place has: the draft may hold what was typed for another one. */
function filesOf(draft: DatabaseDraft): Partial<DatabaseCreate> {
  const text = (name: FileField['name']): string =>
    filePlaces[draft.place].fields.some((field) => field.name === name) ? draft[name].trim() : ''
  const [host, user, password, region] = [text('host'), text('user'), text('password'), text('region')]
  const files = linesOf(text('files'))
  const metadata = { ...(region && { region }), ...(files.length > 0 && { files }) }
  return {
    db: text('db'),
    ...(host && { host }),
    ...(user && { user }),
    ...(password && { password }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }
}

/** Null takes a key out of the metadata. */
function changedFiles(draft: DatabaseDraft, old: DatabaseDraft): DatabasePatch {
  const files = linesOf(draft.files)
  const metadata = {
    ...(draft.region.trim() !== old.region && { region: draft.region.trim() || null }),
    ...(files.join('\n') !== old.files && { files: files.length > 0 ? files : null }),
  }
  const parts = changedParts({ ...draft, password: draft.password.trim() }, old)
  return { ...parts, ...(Object.keys(metadata).length > 0 && { metadata }) }
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

function changedParts(draft: DatabaseDraft, old: DatabaseDraft): DatabasePatch {
  const { host, port, user, db, password } = draft
  return {
    ...(host.trim() !== old.host && { host: host.trim() }),
    ...(port !== old.port && { port: Number(port) }),
    ...(user.trim() !== old.user && { user: user.trim() }),
    ...(db.trim() !== old.db && { db: db.trim() }),
    ...(password && { password }),
  }
}

/** The missing field, if any. */
export function missingOf(draft: DatabaseDraft): string | undefined {
  const { type, name, way, connectionString, host, port, user, db } = draft
  if (name.trim() === '') return 'Give it a name.'
  if (type === 'internal') return undefined
  if (type === 'duckdb') return missingFiles(draft)
  if (way === 'string') return connectionString.trim() === '' ? 'Paste a connection string.' : undefined
  if (!/^\d{1,5}$/.test(port)) return 'The port must be a number.'
  return [host, user, db].some((part) => part.trim() === '') ? 'Host, user and database are required.' : undefined
}

const unnamed: Readonly<Record<FilePlace, string>> = {
  folder: 'Name the folder.',
  web: 'Give the address of the files.',
  s3: 'Name the bucket.',
}

function missingFiles({ place, db, files }: DatabaseDraft): string | undefined {
  if (db.trim() === '') return unnamed[place]
  return place === 'web' && files.trim() === '' ? 'Name the files.' : undefined
}
