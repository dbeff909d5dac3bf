/** The upload dialog: selects files and their options, or edits the options of a waiting or failed upload. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactElement, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { supportedFormats } from '../../../server/src/data/uploads/readers/formats.ts'
import { Button, IconButton } from '../components/button.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { useToast } from '../components/toast.tsx'
import { formatBytes } from '../format.ts'
import { useClient } from '../session/session.tsx'
import { bundleShapefiles } from './bundle-shapefiles.ts'
import { PreviewDialog } from './preview/preview-dialog.tsx'
import { sridFault } from './srid.ts'
import {
  addToUploadDialog,
  closeUploadDialog,
  removeFromUploadDialog,
  type UploadDialogState,
} from './upload-dialog-store.ts'
import { UploadOptionsForm } from './upload-options-form.tsx'
import { addUploads, getUploads, holdUpload, sendWithOptions, subscribeUploads } from './upload-store.ts'
import classes from './uploads.module.css'

interface UploadDialogProps {
  state: UploadDialogState
}

export function UploadDialog({ state }: UploadDialogProps): ReactElement {
  const job = useSyncExternalStore(subscribeUploads, getUploads).find(({ key }) => key === state.jobKey)
  if (state.jobKey === null) return <NewUploads state={state} />
  const { file, preview, phase } = job ?? {}
  if (job && file && preview && phase === 'doubtful')
    return <PreviewDialog key={state.jobKey} job={{ ...job, file, preview }} />
  return <OptionsOfUpload key={state.jobKey} jobKey={state.jobKey} state={state} />
}

interface NewUploadsProps {
  state: UploadDialogState
}

function NewUploads({ state: { files, options: initial } }: NewUploadsProps): ReactElement {
  const [options, setOptions] = useState(initial)
  const isOne = files.length < 2
  const send = () => {
    const { name: _, datasetId: __, ...shared } = options
    addUploads(files, isOne ? options : shared)
    closeUploadDialog()
  }
  return (
    <FormDialog
      title="Upload files"
      kind="wide"
      onClose={closeUploadDialog}
      labels={[files.length > 1 ? `Upload ${files.length} files` : 'Upload', 'Uploading …']}
      icon="upload"
      isPending={false}
      missing={files.length === 0 ? 'Choose a file first.' : optionsFault(options)}
      onSubmit={send}
    >
      <FileZone />
      <ChosenFiles files={files} />
      <UploadOptionsForm options={options} isOne={isOne} onChange={setOptions} />
      <p className={classes.quiet}>
        Data in PostgreSQL need no upload:{' '}
        <Link to="/databases/{-$databaseId}" onClick={closeUploadDialog}>
          connect the database
        </Link>
        .
      </p>
    </FormDialog>
  )
}

const optionsFault = ({ sourceSrid, targetSrid }: UploadDialogState['options']): string | undefined =>
  sridFault(sourceSrid) ?? sridFault(targetSrid)

function FileZone(): ReactElement {
  const input = useRef<HTMLInputElement>(null)
  const { fail } = useToast()
  return (
    <div className={classes.zone}>
      <Button icon="file" onClick={() => input.current?.click()}>
        Choose files
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files"
        onChange={({ target }) => {
          bundleShapefiles([...(target.files ?? [])])
            .then(addToUploadDialog)
            .catch((error) => fail('The files could not be read', error))
          // Lets the user select the same file again.
          target.value = ''
        }}
      />
      <p>
        or drop them anywhere. {supportedFormats}. The files of a Shapefile may also be chosen together. MBTiles and
        PMTiles become tiles as they are.
      </p>
    </div>
  )
}

interface ChosenFilesProps {
  files: readonly File[]
}

function ChosenFiles({ files }: ChosenFilesProps): ReactElement | null {
  const client = useClient()
  const { data: config } = useQuery({
    queryKey: ['config'],
    queryFn: ({ signal }) => client.server.config({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const limit = config?.limits.uploadBytes ?? Number.POSITIVE_INFINITY
  if (files.length === 0) return null
  return (
    <ul className={classes.files} aria-label="Files to upload">
      {files.map((file, index) => (
        <li key={`${index} ${file.name}`}>
          <span className={classes.fileName} title={file.name}>
            {file.name}
          </span>
          {file.size > limit && <span className={classes.tooLarge}>More than {formatBytes(limit)}, the limit</span>}
          <span className={classes.quiet}>{formatBytes(file.size)}</span>
          <IconButton icon="close" label={`Leave out ${file.name}`} onClick={() => removeFromUploadDialog(file)} />
        </li>
      ))}
    </ul>
  )
}

interface OptionsOfUploadProps {
  state: UploadDialogState
  jobKey: string
}

function OptionsOfUpload({ state, jobKey }: OptionsOfUploadProps): ReactElement {
  const [options, setOptions] = useState(state.options)
  useEffect(() => {
    holdUpload(jobKey, true)
    return () => holdUpload(jobKey, false)
  }, [jobKey])
  const send = () => {
    sendWithOptions(jobKey, options)
    closeUploadDialog()
  }
  return (
    <FormDialog
      title="Options"
      kind="wide"
      onClose={closeUploadDialog}
      labels={['Upload', 'Uploading …']}
      icon="upload"
      isPending={false}
      missing={optionsFault(options)}
      onSubmit={send}
    >
      <UploadOptionsForm options={options} isOne onChange={setOptions} />
    </FormDialog>
  )
}
