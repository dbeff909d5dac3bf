import { mkdir, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type { Entity } from '../../../api/resource/resource.ts'
import { createLoadingCache } from '../../../kernel/concurrency/loading-cache.ts'
import { partOf } from '../../../kernel/concurrency/machine-share.ts'
import { sql } from '../../../kernel/db/sql.ts'
import { ApiError, invalid } from '../../../kernel/errors.ts'
import type { DatabaseDriver, DatabaseRecord, DriverServices } from '../driver.ts'
import { passwordAssociatedData } from '../login-key.ts'
import { columnTraits } from './column-type.ts'
import { filesForm } from './form-fields.ts'
import { type Duckdb, hasDuckdb, loadDuckdb } from './package.ts'
import { createRemoteFiles } from './remote-files.ts'
import { httpsSource, maxFiles, type RemoteSource } from './remote-source.ts'
import { checkS3Record, isS3, readS3Location } from './s3-record.ts'

const maxFolderLength = 255
/** Letters, digits and a few signs; no name begins with a dot, so none leads out of the folder or is hidden. */
const folderForm = /^(?!\.)[\p{L}\p{N}_. -]+(\/(?!\.)[\p{L}\p{N}_. -]+)*$/u

const addressForm = /^[a-z\d+.-]+:\/\//i
/** No path, and nothing hidden: the copy has the same name. */
const fileForm = /^(?!\.)[\p{L}\p{N}_. -]{1,200}$/u

/** A folder of the application's files, or files behind an https or S3 prefix, whose GeoParquet, Parquet, CSV, JSON and .duckdb files are tables. Only read. */
export const duckdb: DatabaseDriver = {
  title: 'Files: GeoParquet, Parquet, CSV, JSON, DuckDB',
  isPlatform: false,
  isWritable: false,
  canFollow: false,
  summary: 'Files in {db}',
  contents: 'GeoParquet, Parquet, CSV, JSON and DuckDB files, each as a table',
  engines: ['DuckDB'],
  ...filesForm,
  serverKey: ({ host, db }) => JSON.stringify([host, db]),
  isInstalled: hasDuckdb,
  checkRecord,
  columnTraits,
  start(services) {
    let engine: Promise<Duckdb> | undefined
    const projection = createProjections(services)
    const remoteFiles = createRemoteFiles(services)
    return {
      keyOf,
      async connect(record) {
        if (!hasDuckdb()) throw notInstalled('unavailable')
        const isRemote = addressForm.test(record.db)
        const directory = await (isRemote ? copiesOf : folderOf)(services.dataDirectory, record)
        engine ??= startEngine(services)
        // Loaded for the first such database: it brings projections along, which other servers do without.
        const { duckdbConnection } = await import('./connection.ts')
        const { open } = await engine
        const { applicationId: tenant, id } = record
        const opened = open({ tenant, id, directory })
        const derive = {
          builder: open({ tenant: `${tenant} files`, id, directory }),
          open: (other: string, folder: string) => open({ tenant, id: other, directory: folder }),
        }
        const remote = isRemote && { directory, key: keyOf(record), source: await sourceOf(record, services) }
        const ready = async (signal?: AbortSignal) => {
          if (remote) await remoteFiles.ready(remote, signal)
        }
        return { connection: duckdbConnection({ opened, projection, ready, derive }), close: async () => {} }
      },
      close: async () => (await engine)?.close(),
    }
  },
}

const keyOf = ({ id, revision }: DatabaseRecord): string => `${id} ${revision}`

async function sourceOf(record: DatabaseRecord, { secrets, stream }: DriverServices): Promise<RemoteSource> {
  const { applicationId, user, password, metadata } = record
  const files = Array.isArray(metadata.files) ? metadata.files.map(String) : undefined
  if (!isS3(record.db)) return httpsSource(record.db, files ?? [], stream)
  // Loaded for the first bucket: other servers need no reader of XML.
  const [{ s3Source }, { formatOf }] = await Promise.all([import('./s3-source.ts'), loadDuckdb()])
  const isTable = (file: string): boolean => fileForm.test(file) && formatOf(file) !== undefined
  const key = user !== '' &&
    password !== null && {
      accessKeyId: user,
      secretAccessKey: secrets.open(password, passwordAssociatedData(applicationId, record)),
    }
  return s3Source({ location: readS3Location(record), key: key || undefined, files, stream, isTable })
}

/** One process serves one application. With fewer than two, an application would wait for another on each worker. */
const processes = { most: 8, fewest: 2 }

async function startEngine({ dataDirectory, share, onError }: DriverServices): Promise<Duckdb> {
  const { createDuckdb } = await loadDuckdb()
  const maxProcesses = partOf(processes.most, share, processes.fewest)
  return createDuckdb({ temporaryDirectory: join(dataDirectory, 'duckdb'), maxProcesses, onError })
}

const notInstalled = (code: 'unavailable' | 'invalid_request'): ApiError =>
  new ApiError(
    code,
    'This server has no driver for databases of type duckdb. Its operator can install @graticule/driver-duckdb.',
  )

function checkRecord(record: Entity): void {
  const { db, host, user, metadata } = record
  if (!hasDuckdb()) throw notInstalled('invalid_request')
  if (isS3(db)) {
    checkS3Record(record)
    checkFiles(metadata, false)
    return
  }
  if (addressForm.test(String(db))) checkAddress(String(db), metadata)
  else if (String(db).length > maxFolderLength || !folderForm.test(String(db))) {
    throw invalid(
      'body/db',
      'must be a folder of the application’s files, such as data/roads, without .. and hidden names, or an https or s3 address',
    )
  }
  for (const [name, value] of Object.entries({ host, user })) {
    if (value !== '')
      throw invalid(`body/${name}`, 'must be absent: a database of type duckdb is a folder or an address, named by db')
  }
}

function checkAddress(db: string, metadata: unknown): void {
  const url = URL.parse(db)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw invalid('body/db', 'must be a folder, an https address or an S3 prefix such as s3://bucket/data/')
  }
  if (url.href !== db || !db.endsWith('/') || url.username !== '' || url.search !== '') {
    throw invalid(
      'body/db',
      'must be an address that ends with /, without a user, a password or a query, such as https://data.example.org/open/',
    )
  }
  checkFiles(metadata, true)
}

function checkFiles(metadata: unknown, isRequired: boolean): void {
  const { files } = (metadata ?? {}) as { files?: unknown }
  if (files === undefined && !isRequired) return
  const isList = Array.isArray(files) && files.length > 0 && files.length <= maxFiles
  if (isList && files.every((name) => typeof name === 'string' && fileForm.test(name))) return
  const why = isRequired ? 'plain https has no listing' : 'without it they are listed'
  throw invalid(
    'body/metadata/files',
    `must be a list of 1 to ${maxFiles} names of files behind the address, such as ["roads.parquet"]: ${why}`,
  )
}

/** With the application's files, so that they go with it; hidden, so that no record names the folder. */
async function copiesOf(dataDirectory: string, { applicationId, id }: DatabaseRecord): Promise<string> {
  const directory = join(dataDirectory, 'files', applicationId, '.remote', id)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  return realpath(directory)
}

/** No symbolic link leads out of the application's files. */
async function folderOf(dataDirectory: string, { applicationId, db }: DatabaseRecord): Promise<string> {
  try {
    const root = await realpath(join(dataDirectory, 'files', applicationId))
    const folder = await realpath(join(root, db))
    if (folder.startsWith(root + sep)) return folder
  } catch {}
  throw new ApiError('invalid_request', `There is no folder "${db}" among the files of this application.`)
}

/** How reference systems are computed, as the platform's database has it. */
function createProjections({ db }: DriverServices): (srid: number) => Promise<string | undefined> {
  const projections = createLoadingCache<string | undefined>({ max: 1_000 })
  return (srid) =>
    projections.get(String(srid), async () => {
      const [row] = await db.query<{ text: string | null }>(
        sql`SELECT proj4text AS text FROM spatial_ref_sys WHERE srid = ${srid}::int4`,
      )
      return row?.text?.trim() || undefined
    })
}
