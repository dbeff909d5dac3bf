/** One upload in the tray: what is done with it, then the result. */
import { Link } from '@tanstack/react-router'
import { type ReactElement, type ReactNode, useState } from 'react'
import { Button, buttonClass, IconButton } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { faultOf } from '../components/error-note.tsx'
import { Icon } from '../components/icon.tsx'
import { useToast } from '../components/toast.tsx'
import { formatBytes, formatNumber } from '../format.ts'
import { openUploadDialog } from './upload-dialog-store.ts'
import { failureOf, hasOverviewsToCome, isEnded, resultsOf, type UploadJob, type UploadResult } from './upload-job.ts'
import { Bar, Processing, Sending } from './upload-progress.tsx'
import { cancelUpload, dismissUpload, retryUpload } from './upload-store.ts'
import classes from './uploads.module.css'

interface UploadRowProps {
  job: UploadJob
}

export function UploadRow({ job }: UploadRowProps): ReactElement {
  return (
    <li className={classes.row} data-phase={job.phase}>
      <div className={classes.rowHead}>
        <span className={classes.fileName} title={job.fileName}>
          {job.fileName}
        </span>
        {job.size > 0 && <span className={classes.quiet}>{formatBytes(job.size)}</span>}
      </div>
      <div className={classes.content}>{contentOf(job)}</div>
      <RowButton job={job} />
    </li>
  )
}

function contentOf(job: UploadJob): ReactNode {
  switch (job.phase) {
    case 'waiting':
      return <Waiting job={job} />
    case 'checking':
      return <span className={classes.quiet}>Looks at the file …</span>
    case 'doubtful':
      return <Doubtful job={job} />
    case 'sending':
      return <Sending job={job} />
    case 'processing':
      return job.upload && <Processing job={job} upload={job.upload} />
    case 'completed':
      return <Completed job={job} />
    case 'failed':
      return <Failed job={job} />
    case 'unwatched':
      return <p className={classes.quiet}>Sent. What becomes of it cannot be shown: {faultOf(job.error).message}</p>
    case 'cancelled':
      return <Cancelled job={job} />
  }
}

interface RowButtonProps {
  job: UploadJob
}

function RowButton({ job }: RowButtonProps): ReactElement {
  const { fail } = useToast()
  if (isEnded(job)) {
    return <IconButton icon="close" label={`Dismiss ${job.fileName}`} onClick={() => dismissUpload(job.key)} />
  }
  const cancel = () => cancelUpload(job.key).catch((error) => fail(`${job.fileName} was not cancelled`, error))
  return <IconButton icon="close" label={`Cancel ${job.fileName}`} onClick={cancel} />
}

interface WaitingProps {
  job: UploadJob
}

function Waiting({ job }: WaitingProps): ReactElement {
  return (
    <div className={classes.rowFoot}>
      <span className={classes.quiet}>Waits to be sent</span>
      <OptionsButton job={job} />
    </div>
  )
}

interface DoubtfulProps {
  job: UploadJob
}

function Doubtful({ job: { key, options } }: DoubtfulProps): ReactElement {
  return (
    <div className={classes.rowFoot}>
      <span className={classes.quiet}>It can be read in several ways</span>
      <Button variant="primary" onClick={() => openUploadDialog({ jobKey: key, options })}>
        Look at it …
      </Button>
    </div>
  )
}

interface CompletedProps {
  job: UploadJob
}

function Completed({ job: { key, upload } }: CompletedProps): ReactElement | null {
  if (!upload) return null
  const results = resultsOf(upload)
  const { featureCount } = upload
  return (
    <>
      <div className={classes.rowFoot}>
        <span className={classes.done}>
          <Icon name="ok" />
          {featureCount === null ? 'Done' : `${formatNumber(featureCount)} ${featureCount === 1 ? 'row' : 'rows'}`}
        </span>
        <Warnings upload={upload} />
        {results.length === 1 && results[0] && <ResultLink result={results[0]} onFollow={() => dismissUpload(key)} />}
      </div>
      <Overviews upload={upload} />
      {results.length > 1 && (
        <ul className={classes.results}>
          {results.map(({ label, to }) => (
            <li key={to}>
              <Link to={to}>{label}</Link>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

const viewLabels = { map: 'View on map', table: 'View table', tiles: 'View tiles' }

interface ResultLinkProps {
  result: UploadResult
  onFollow(): void
}

function ResultLink({ result: { to, shows }, onFollow }: ResultLinkProps): ReactElement {
  const search = shows === 'map' ? { show: 'map' } : {}
  return (
    <Link to={to} search={search as never} className={buttonClass('primary')} onClick={onFollow}>
      {viewLabels[shows]}
    </Link>
  )
}

interface OverviewsProps {
  upload: NonNullable<UploadJob['upload']>
}

function Overviews({ upload }: OverviewsProps): ReactNode {
  const { overviews, fileName } = upload
  if (overviews?.status === 'failed') {
    return <p className={classes.quiet}>Overviews could not be made: zoomed out, the map draws more slowly.</p>
  }
  if (!overviews || !hasOverviewsToCome(upload)) return null
  return (
    <Bar
      label="Making overviews"
      name={fileName}
      part={overviews.progress}
      facts={['The data can be used meanwhile.']}
    />
  )
}

interface WarningsProps {
  upload: NonNullable<UploadJob['upload']>
}

function Warnings({ upload: { warnings, fileName } }: WarningsProps): ReactNode {
  const [isOpen, setOpen] = useState(false)
  if (warnings.length === 0) return null
  return (
    <>
      <Button variant="ghost" icon="warning" onClick={() => setOpen(true)}>
        {warnings.length === 1 ? '1 warning' : `${formatNumber(warnings.length)} warnings`}
      </Button>
      <Dialog title={`Warnings: ${fileName}`} isOpen={isOpen} onClose={() => setOpen(false)} kind="wide">
        <ul className={classes.warnings}>
          {warnings.map(({ code, message, count, layer }) => (
            <li key={`${code} ${layer} ${message}`}>
              <p>{message}</p>
              <p className={classes.quiet}>
                <code>{code}</code>
                {count !== undefined && ` · ${formatNumber(count)} ${count === 1 ? 'feature' : 'features'}`}
                {layer !== undefined && ` · layer “${layer}”`}
              </p>
            </li>
          ))}
        </ul>
      </Dialog>
    </>
  )
}

interface FailedProps {
  job: UploadJob
}

function Failed({ job }: FailedProps): ReactElement {
  const fault = job.error ? faultOf(job.error) : null
  return (
    <>
      <p className={classes.failure}>{fault?.message ?? (job.upload && failureOf(job.upload))}</p>
      {(fault?.requestId || job.upload?.error.code) && (
        <p className={classes.quiet}>
          <code>{fault?.requestId ? `request ${fault.requestId}` : job.upload?.error.code}</code>
        </p>
      )}
      <Again job={job} />
    </>
  )
}

interface CancelledProps {
  job: UploadJob
}

function Cancelled({ job }: CancelledProps): ReactElement {
  return (
    <>
      <p className={classes.quiet}>Cancelled. {job.error ? faultOf(job.error).message : ''}</p>
      <Again job={job} />
    </>
  )
}

interface AgainProps {
  job: UploadJob
}

function Again({ job }: AgainProps): ReactElement | null {
  if (!job.file) return null
  return (
    <div className={classes.rowFoot}>
      <OptionsButton job={job} />
      <Button icon="refresh" onClick={() => retryUpload(job.key)}>
        Try again
      </Button>
    </div>
  )
}

interface OptionsButtonProps {
  job: UploadJob
}

function OptionsButton({ job: { key, options } }: OptionsButtonProps): ReactElement {
  return (
    <Button variant="ghost" onClick={() => openUploadDialog({ jobKey: key, options })}>
      Options …
    </Button>
  )
}
