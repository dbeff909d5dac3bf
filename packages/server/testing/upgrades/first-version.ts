import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unpackFiles } from './packed-files.ts'

/** What the first version held, and what it answered, when its data directory was made (scripts/pack-data-directory.ts). */
export type RecordedVersion = {
  readonly commit: string
  readonly keys: { readonly master: string; readonly developer: string; readonly visitor: string }
  readonly login: { readonly email: string; readonly password: string; readonly applicationId: string }
  /** The uploads that it had accepted and not begun when it was stopped. */
  readonly waiting: readonly string[]
  /** By path what the developer's key got: JSON, and tiles in base64. */
  readonly answers: Record<string, unknown>
}

const file = (ending: string): string => join(import.meta.dirname, `first-version.${ending}`)

/** Unpacks the data directory of the first version. */
export async function unpackFirstVersion(directory: string): Promise<RecordedVersion> {
  await unpackFiles(file('br'), directory)
  return JSON.parse(await readFile(file('json'), 'utf8'))
}
