import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { quotedText, quotedTexts } from './sql/sql-text.ts'

/** DuckDB instances: limited from the beginning, then locked. */
export type InstanceSettings = {
  /** Of this instance alone: DuckDB lets every query read and write in it. */
  readonly temporaryDirectory: string
  readonly memoryMb: number
  readonly threads: number
}

const maxTemporaryMb = 1024

export async function createInstance({
  temporaryDirectory,
  memoryMb,
  threads,
}: InstanceSettings): Promise<DuckDBInstance> {
  mkdirSync(temporaryDirectory, { recursive: true, mode: 0o700 })
  const instance = await DuckDBInstance.create(':memory:', { autoinstall_known_extensions: 'false' })
  await withConnection(instance, async (connection) => {
    await set(connection, {
      temp_directory: quotedText(temporaryDirectory),
      max_temp_directory_size: quotedText(`${maxTemporaryMb}MB`),
      memory_limit: quotedText(`${memoryMb}MB`),
      threads: String(threads),
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      allow_community_extensions: 'false',
      allow_unsigned_extensions: 'false',
      allow_persistent_secrets: 'false',
      TimeZone: quotedText('UTC'),
    })
  })
  return instance
}

/** Instances with a temporary directory each, for what one spills another must not read. */
export type InstanceMaker = {
  make(): Promise<DuckDBInstance>
  directoryOf(instance: DuckDBInstance): string
  close(instance: DuckDBInstance): void
}

export function createInstanceMaker({
  directory,
  ...limits
}: Omit<InstanceSettings, 'temporaryDirectory'> & { readonly directory: string }): InstanceMaker {
  let count = 0
  const directories = new Map<DuckDBInstance, string>()
  return {
    async make() {
      const temporaryDirectory = join(directory, `instance-${++count}`)
      const instance = await createInstance({ temporaryDirectory, ...limits })
      directories.set(instance, temporaryDirectory)
      return instance
    },
    directoryOf: (instance) => directories.get(instance) ?? directory,
    close(instance) {
      instance.closeSync()
      const temporaryDirectory = directories.get(instance)
      directories.delete(instance)
      if (temporaryDirectory) rmSync(temporaryDirectory, { recursive: true, force: true })
    },
  }
}

/** From here on it reads these files and no others, and nothing of this can be changed. */
export async function lockInstance(instance: DuckDBInstance, paths: readonly string[]): Promise<void> {
  await withConnection(instance, (connection) =>
    set(connection, { allowed_paths: quotedTexts(paths), enable_external_access: 'false', lock_configuration: 'true' }),
  )
}

async function set(connection: DuckDBConnection, settings: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(settings)) await connection.run(`SET ${name} = ${value}`)
}

export async function withConnection<T>(
  instance: DuckDBInstance,
  work: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  const connection = await instance.connect()
  try {
    return await work(connection)
  } finally {
    connection.disconnectSync()
  }
}
