/** One upload in the tray: separate progress bars for sending and processing, then the result. */
import { Link } from '@tanstack/react-router'
import { type ReactElement, type ReactNode, useState } from 'react'
import { Button, buttonClass, IconButton } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { faultOf } from '../components/error-note.tsx'
import { Icon } from '../components/icon.tsx'
import { useToast } from '../components/toast.tsx'
import { formatBytes, formatNumber } from '../format.ts'
import { formatClock, secondsLeft, sendingRate } from './sending-rate.ts'
import { openUploadDialog } from './upload-dialog-store.ts'
import { failureOf, hasOverviewsToCome, isEnded, resultsOf, stageNames, type UploadJob } from './upload-job.ts'
import { cancelUpload, dismissUpload, retryUpload } from './upload-store.ts'
import classes from './uploads.module.css'

export function UploadRow({ job }: { job: UploadJob }): ReactElement {
  return (
    <li className={classes.row} data-phase={job.phase}>
      <div className={classes.rowHead}>
        <span className={classes.fileName} title={job.fileName}>
          {job.fileName}
        </span>
        {job.size > 0 && <span className={classes.quiet}>{formatBytes(job.size)}</span>}
        <RowButton job={job} />
      </div>
      {contentOf(job)}
    </li>
  )
}

function contentOf(job: UploadJob): ReactNode {
  switch (job.phase) {
    case 'waiting':
      return <Waiting job={job} />
    case 'sending':
      return <SendingBar job={job} />
    case 'processing':
      return <ProcessingBar job={job} />
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

function RowButton({ job }: { job: UploadJob }): ReactElement {
  const { fail } = useToast()
  if (isEnded(job)) {
    return <IconButton icon="close" label={`Dismiss ${job.fileName}`} onClick={() => dismissUpload(job.key)} />
  }
  const cancel = () => cancelUpload(job.key).catch((error) => fail(`${job.fileName} was not cancelled`, error))
  return <IconButton icon="close" label={`Cancel ${job.fileName}`} onClick={cancel} />
}

function Waiting({ job }: { job: UploadJob }): ReactElement {
  return (
    <div className={classes.rowFoot}>
      <span className={classes.quiet}>Waits to be sent</span>
      <OptionsButton job={job} />
    </div>
  )
}

function SendingBar({ job }: { job: UploadJob }): ReactElement {
  const sent = job.samples.at(-1)?.bytes ?? 0
  const rate = sendingRate(job.samples)
  const left = secondsLeft(job.samples, job.size)
  const facts = [
    `${formatBytes(sent)} of ${formatBytes(job.size)}`,
    rate !== null && `${formatBytes(rate)}/s`,
    left !== null && `${formatClock(left)} left`,
  ]
  return (
    <>
      <Bar label="Sending" name={job.fileName} part={job.size === 0 ? 0 : sent / job.size} />
      <p className={classes.quiet}>{facts.filter(Boolean).join(' · ')}</p>
    </>
  )
}

function ProcessingBar({ job: { upload, fileName } }: { job: UploadJob }): ReactElement | null {
  if (!upload) return null
  const { stage, status, progress } = upload
  const label = status === 'pending' ? 'Waits for its turn' : stage ? stageNames[stage] : 'Processing'
  return (
    <>
      <p className={classes.sent}>
        <Icon name="check" size={12} />
        Sent
      </p>
      <Bar label={label} name={fileName} part={progress} />
    </>
  )
}

function Bar({ label, name, part }: { label: string; name: string; part: number }): ReactElement {
  const percent = Math.floor(part * 100)
  return (
    <div className={classes.bar}>
      <span>{label}</span>
      <progress aria-label={`${label} ${name}`} value={part} max={1} />
      <span className={classes.percent}>{percent} %</span>
    </div>
  )
}

function Completed({ job: { upload } }: { job: UploadJob }): ReactElement | null {
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
        {results.length === 1 && results[0] && (
          <Link to={results[0].to} className={buttonClass('primary')}>
            View on map
          </Link>
        )}
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

function Overviews({ upload }: { upload: NonNullable<UploadJob['upload']> }): ReactNode {
  const { overviews, fileName } = upload
  if (overviews?.status === 'failed') {
    return <p className={classes.quiet}>Overviews could not be made: zoomed out, the map draws more slowly.</p>
  }
  if (!overviews || !hasOverviewsToCome(upload)) return null
  return (
    <>
      <Bar label={stageNames.overviews} name={fileName} part={overviews.progress} />
      <p className={classes.quiet}>The data can be used meanwhile.</p>
    </>
  )
}

function Warnings({ upload: { warnings, fileName } }: { upload: NonNullable<UploadJob['upload']> }): ReactNode {
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

function Failed({ job }: { job: UploadJob }): ReactElement {
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

function Cancelled({ job }: { job: UploadJob }): ReactElement {
  return (
    <>
      <p className={classes.quiet}>Cancelled. {job.error ? faultOf(job.error).message : ''}</p>
      <Again job={job} />
    </>
  )
}

function Again({ job }: { job: UploadJob }): ReactElement | null {
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

function OptionsButton({ job: { key, options } }: { job: UploadJob }): ReactElement {
  return (
    <Button variant="ghost" onClick={() => openUploadDialog({ jobKey: key, options })}>
      Options …
    </Button>
  )
}
