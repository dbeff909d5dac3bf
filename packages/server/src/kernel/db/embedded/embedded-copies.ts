import { cpSync, constants as fsConstants, rmSync, writeSync } from 'node:fs'
import { relative } from 'node:path'
import type { Engine, StatementResult } from './embedded-engine.ts'
import { lockFile } from './embedded-lock.ts'
import { type EmbeddedCommand, temporaryDirectory } from './embedded-protocol.ts'

// Copies that the thread of the embedded database makes: of rows into a file, and of the whole data directory.

/** The first failure to write is reported when the statement has ended: compiled code must not see an exception. */
export async function copyOut(
  engine: Engine,
  { text, spool }: Extract<EmbeddedCommand, { kind: 'copyOut' }>,
): Promise<StatementResult> {
  let failure: unknown
  const result = await engine.copyOut(text, (rows) => {
    if (failure !== undefined) return
    try {
      for (let done = 0; done < rows.length; ) done += writeSync(spool, rows, done)
    } catch (error) {
      failure = error
    }
  })
  return failure === undefined ? result : { ...result, fault: faultOf(failure) }
}

/** `disk_full`, as PostgreSQL reports a full disk itself. */
const faultOf = (failure: unknown): NonNullable<StatementResult['fault']> => ({
  message: failure instanceof Error ? failure.message : String(failure),
  code: (failure as NodeJS.ErrnoException).code === 'ENOSPC' ? '53100' : '58030',
})

/**
 * Copies the data directory. Nothing else runs in this thread meanwhile, so the files do not change, and after a checkpoint
 * they hold everything. Where the file system shares blocks between copies it takes no time.
 */
export async function copyFiles(
  engine: Engine,
  { directory, target }: Extract<EmbeddedCommand, { kind: 'copyFiles' }>,
): Promise<StatementResult> {
  const result = await engine.query('CHECKPOINT', [])
  try {
    const skipped = [temporaryDirectory, lockFile]
    cpSync(directory, target, {
      recursive: true,
      mode: fsConstants.COPYFILE_FICLONE,
      filter: (path) => !skipped.some((name) => relative(directory, path).startsWith(name)),
    })
    return result
  } catch (error) {
    rmSync(target, { recursive: true, force: true })
    return { ...result, fault: faultOf(error) }
  }
}
