// The files of exports that are being read. Their bytes stay on the disk until the last reader closes them, also when they have
// been removed, so they count as their application's: otherwise slow readers could have file after file made and kept.
import type { EventEmitter } from 'node:events'
import type { FileHandle } from 'node:fs/promises'
import { overLimit } from '../../../kernel/limits/limits.ts'
import type { OpenFile } from './export-sweep.ts'

/** An open file. It can be read even if it is removed from the cache meanwhile; whoever has it closes it. */
export type ExportFile = {
  readonly handle: FileHandle
  readonly ino: number
  readonly size: number
  readonly tag: string
}

export type ExportReaders = {
  /** Counts the file until its handle is closed. */
  count<T extends ExportFile | undefined>(applicationId: string, file: T): T
  /** Refuses another file to an application whose readers have as many bytes open as they may. */
  refuseBeyondShare(applicationId: string): void
  /** Each once, however many read it. */
  files(): OpenFile[]
}

export function createExportReaders(mostBytes: number): ExportReaders {
  const open = new Map<number, OpenFile & { readers: number }>()
  return {
    count(applicationId, file) {
      if (!file) return file
      const { handle, ino, size } = file
      const one = open.get(ino) ?? { applicationId, ino, size, readers: 0 }
      open.set(ino, one)
      one.readers++
      // It is an EventEmitter, which its type does not say.
      ;(handle as unknown as EventEmitter).once('close', () => {
        one.readers--
        if (one.readers === 0) open.delete(ino)
      })
      return file
    },
    refuseBeyondShare(applicationId) {
      let bytes = 0
      for (const file of open.values()) if (file.applicationId === applicationId) bytes += file.size
      if (bytes < mostBytes) return
      const detail = `The files that this application is reading take ${bytes} bytes; it may have ${mostBytes}. Read them to their end first.`
      throw overLimit('exportsReadBytes', mostBytes, detail, { headers: { 'Retry-After': '10' } })
    },
    files: () => [...open.values()],
  }
}
