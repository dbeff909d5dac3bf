/** The state of the upload dialog, which any page, the key `u` and a drop can open. */
import type { UploadOptions } from '@graticule/client'
import { useSyncExternalStore } from 'react'

export interface UploadDialogState {
  files: readonly File[]
  options: UploadOptions
  /** The upload whose options are edited; null if new files are selected. */
  jobKey: string | null
}

let state: UploadDialogState | null = null
const listeners = new Set<() => void>()

export function openUploadDialog({ files = [], options = {}, jobKey = null }: Partial<UploadDialogState> = {}): void {
  replace({ files, options, jobKey })
}

export const closeUploadDialog = (): void => replace(null)

export const useUploadDialog = (): UploadDialogState | null =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => state,
  )

/** Opens the preview of an upload, unless another dialog is open: the tray leads to it then. */
export function askAbout(jobKey: string): void {
  if (!state) openUploadDialog({ jobKey })
}

/** Adds files to the open dialog; false if it is not open for new files. */
export function addToUploadDialog(files: readonly File[]): boolean {
  if (!state || state.jobKey !== null) return false
  replace({ ...state, files: [...state.files, ...files] })
  return true
}

export function removeFromUploadDialog(file: File): void {
  if (state) replace({ ...state, files: state.files.filter((one) => one !== file) })
}

function replace(next: UploadDialogState | null): void {
  state = next
  for (const listener of listeners) listener()
}
