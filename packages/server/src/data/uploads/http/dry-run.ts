// Previews of uploads, and the check of fields that are about the columns of a file.
import type { Scope } from '../../../api/access/acl.ts'
import type { Answer } from '../../../api/http/operation.ts'
import { invalid } from '../../../kernel/errors.ts'
import { ReadFault } from '../readers/reader.ts'
import { tableRulesOf } from '../readers/table-rules.ts'
import type { FaultDto } from '../record/upload-fault.ts'
import type { UploadPreview } from '../record/upload-preview.ts'
import type { PreviewUpload, ReceivedUpload } from '../run/preview-upload.ts'

/** Nothing was changed, so the audit log has nothing to tell. */
export function dryRunAnswer(preview: UploadPreview, { trail }: Scope): Answer {
  if (trail) trail.isMoot = true
  return { body: preview }
}

/** What would become of a file; a fault that its first bytes show is told without reading it. */
export async function previewOf(
  preview: PreviewUpload,
  received: ReceivedUpload,
  fault: FaultDto | undefined,
  signal: AbortSignal,
): Promise<UploadPreview> {
  const { fileName, size } = received
  if (fault) return { fileName, size, format: null, layers: [], error: fault }
  return preview(received, signal).catch((error) => {
    throw misfitOf(error)
  })
}

/** Refuses fields that do not fit the columns of the file, before it is stored. What else is wrong with it, the record will tell. */
export async function checkFields(
  preview: PreviewUpload,
  received: ReceivedUpload,
  signal: AbortSignal,
): Promise<void> {
  if (Object.keys(tableRulesOf(received.options)).length === 0) return
  await preview(received, signal).catch((error) => {
    signal.throwIfAborted()
    if (isMisfit(error)) throw misfitOf(error)
  })
}

const isMisfit = (error: unknown): error is ReadFault => error instanceof ReadFault && error.code === 'field_mismatch'

const misfitOf = (error: unknown): unknown =>
  isMisfit(error) ? invalid(`body/${error.position.field}`, error.message) : error
