// The file of an upload while it is loaded: where it is, and how the client wants it read.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isNotFound } from '../../../kernel/errors.ts'
import { type FileStore, removeNowOrLater, uploadKey } from '../../../kernel/storage/file-store.ts'
import { tableRulesOf } from '../readers/table-rules.ts'
import { UploadFault } from '../record/upload-fault.ts'
import type { ClaimedUpload } from '../record/upload-state.ts'
import type { LoadingParts } from './loading-parts.ts'

const uploadDirectory = (directory: string, id: string): string => join(directory, 'uploads', id)
export const sourceFile = (directory: string, id: string): string => join(uploadDirectory(directory, id), 'source')
/** Unpacked files; removed before another attempt. */
export const workDirectory = (directory: string, id: string): string => join(uploadDirectory(directory, id), 'work')

/** Another replica may have received the file. */
export async function fetchSource(files: FileStore, id: string, path: string, signal: AbortSignal): Promise<void> {
  await files.fetch(uploadKey(id), path, signal).catch((error) => {
    if (!isNotFound(error)) throw error
    throw new UploadFault('invalid_file', 'The file is no longer stored. Send it again.', {}, error)
  })
}

/** Removes what an upload has on this machine and in the storage, once it has ended. */
export async function removeUpload(
  { directory, files }: Pick<LoadingParts, 'directory' | 'files'>,
  id: string,
): Promise<void> {
  await rm(uploadDirectory(directory, id), { recursive: true, force: true })
  await removeNowOrLater(files, uploadKey(id))
}

/** The client's settings for reading the file. */
export const readingOptions = ({ layer, encoding, sourceSrid, strict, ...rest }: ClaimedUpload['options']) => ({
  ...(layer !== undefined && { layer }),
  ...(encoding !== undefined && { encoding }),
  ...(sourceSrid !== undefined && { sourceSrid }),
  ...(strict !== undefined && { strict }),
  ...tableRulesOf(rest),
})
