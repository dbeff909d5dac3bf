/** How far an upload has come: bytes while it is sent, then the server's steps with rows and time left. */
import type { Upload } from '@graticule/client'
import type { ReactElement } from 'react'
import { formatBytes, formatNumber } from '../format.ts'
import { formatClock, rateOf, secondsLeft } from './rate.ts'
import { type Step, stepOf, steps, type UploadJob } from './upload-job.ts'
import classes from './uploads.module.css'

interface ProgressProps {
  job: UploadJob
}

export function Sending({ job: { samples, size, fileName } }: ProgressProps): ReactElement {
  const sent = samples.at(-1)?.amount ?? 0
  const rate = rateOf(samples)
  const facts = [
    `${formatBytes(sent)} of ${formatBytes(size)}`,
    rate !== null && `${formatBytes(rate)}/s`,
    leftOf(secondsLeft(samples, size)),
  ]
  return <Bar label="Sending" name={fileName} part={size === 0 ? 0 : sent / size} facts={facts} />
}

/** Below, the first measurements say too little. */
const leastLeft = 2

const leftOf = (seconds: number | null): string | false =>
  seconds !== null && seconds >= leastLeft && `about ${formatClock(seconds)} left`

interface ProcessingProps extends ProgressProps {
  upload: Upload
}

export function Processing({ job: { samples, fileName }, upload }: ProcessingProps): ReactElement {
  const { status, featureCount, progress } = upload
  const step = stepOf(upload)
  const facts = [
    status === 'pending' && 'waits for its turn',
    featureCount !== null && featureCount > 0 && `${formatNumber(featureCount)} rows so far`,
    leftOf(secondsLeft(samples, 1)),
  ]
  return (
    <>
      <Steps current={step} />
      <Bar label={step} name={fileName} part={progress} facts={facts} />
    </>
  )
}

interface StepsProps {
  current: Step
}

function Steps({ current }: StepsProps): ReactElement {
  const reached = steps.indexOf(current)
  return (
    <ol aria-label="Steps" className={classes.steps}>
      {steps.map((step, index) => (
        <li key={step} data-done={index < reached} aria-current={index === reached ? 'step' : undefined}>
          {step}
        </li>
      ))}
    </ol>
  )
}

interface BarProps {
  label: string
  name: string
  part: number
  facts: readonly (string | false)[]
}

export function Bar({ label, name, part, facts }: BarProps): ReactElement {
  return (
    <div className={classes.bar}>
      <span className={classes.step}>{label}</span>
      <progress aria-label={`${label} ${name}`} value={part} max={1} />
      <span className={classes.percent}>{Math.floor(part * 100)} %</span>
      <span className={classes.quiet}>{facts.filter(Boolean).join(' · ')}</span>
    </div>
  )
}
