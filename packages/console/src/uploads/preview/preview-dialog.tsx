/** What an upload would make, before it is imported: its warnings with the choices that answer them, columns, rows and a map. */
import type { UploadOptions, UploadPreview } from '@graticule/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { lazy, type ReactElement, Suspense, useState } from 'react'
import { ErrorNote } from '../../components/error-note.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { Note, Skeleton } from '../../components/note.tsx'
import { formatNumber } from '../../format.ts'
import { queryKeys } from '../../query-keys.ts'
import { useClient } from '../../session/session.tsx'
import { sridFault } from '../srid.ts'
import { closeUploadDialog } from '../upload-dialog-store.ts'
import type { UploadJob } from '../upload-job.ts'
import { cancelUpload, sendChecked } from '../upload-store.ts'
import classes from '../uploads.module.css'
import { choicesOf, previewedPart, warningsOf } from './doubts.ts'
import { PreviewTable } from './preview-table.tsx'
import { ReadingChoices } from './reading-choices.tsx'

const PreviewMap = lazy(() => import('./preview-map.tsx').then((module) => ({ default: module.PreviewMap })))

interface PreviewDialogProps {
  job: UploadJob & { file: File; preview: UploadPreview }
}

export function PreviewDialog({ job }: PreviewDialogProps): ReactElement {
  const { key, file, preview: first } = job
  const [options, setOptions] = useState(job.options)
  const { data: preview = first, error, isFetching } = usePreview(file, options, first, job.options)
  // What was asked at first stays, also when it has been answered.
  const choices = [...new Set([...choicesOf(first), ...choicesOf(preview)])]
  const close = () => {
    closeUploadDialog()
    void cancelUpload(key)
  }
  const [layer] = preview.layers
  return (
    <FormDialog
      title={`How is ${file.name} read?`}
      kind="wide"
      onClose={close}
      labels={['Import', 'Importing …']}
      icon="upload"
      isPending={false}
      missing={sridFault(options.sourceSrid)}
      onSubmit={() => {
        sendChecked(key, options)
        closeUploadDialog()
      }}
    >
      {error && <ErrorNote error={error} />}
      {preview.error.message && <Note kind="danger">{preview.error.message}</Note>}
      {warningsOf(preview).map(({ code, message }) => (
        <Note key={`${code} ${message}`} kind="warn">
          {message}
        </Note>
      ))}
      <ReadingChoices choices={choices} options={options} columns={layer?.columns ?? []} onChange={setOptions} />
      {layer && (
        <div className={classes.previewed} aria-busy={isFetching}>
          <p className={classes.quiet}>{factsOf(preview)}</p>
          {layer.geometry && (
            <div className={classes.previewMap}>
              <Suspense fallback={<Skeleton height="100%" />}>
                <PreviewMap rows={layer.rows} />
              </Suspense>
            </div>
          )}
          <PreviewTable layer={layer} options={options} onChange={setOptions} />
        </div>
      )}
    </FormDialog>
  )
}

/** The preview with these options; the one that is there already is not asked for again. */
function usePreview(file: File, options: UploadOptions, first: UploadPreview, firstOptions: UploadOptions) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.uploads.one(file.name, 'preview', options),
    async queryFn({ signal }) {
      const part = await previewedPart(file)
      return part ? client.uploads.preview(part, { ...options, fileName: file.name }, { signal }) : first
    },
    enabled: options !== firstOptions && sridFault(options.sourceSrid) === undefined,
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  })
}

function factsOf({ layers, format }: UploadPreview): string {
  const [layer] = layers
  if (!layer) return ''
  const { rowsRead, isWhole, geometry, columns } = layer
  const facts = [
    format,
    layers.length > 1 && `the first of ${layers.length} layers`,
    `${isWhole ? '' : 'more than '}${formatNumber(rowsRead)} ${rowsRead === 1 ? 'row' : 'rows'}`,
    columns.length === 1 ? '1 column' : `${formatNumber(columns.length)} columns`,
    geometry
      ? `${geometry.type}${geometry.srid === null ? '' : `, EPSG:${geometry.srid}`}`
      : 'no geometry: a table without a map',
  ]
  return facts.filter(Boolean).join(' · ')
}
