/** The upload tray below every page. It takes room instead of covering the page, and goes when all is done. */
import { useLocation } from '@tanstack/react-router'
import { type ReactElement, useEffect, useRef, useState } from 'react'
import { IconButton } from '../components/button.tsx'
import { isEnded, isSettled, type UploadJob } from './upload-job.ts'
import { UploadRow } from './upload-row.tsx'
import { dismissEnded, dismissUpload } from './upload-store.ts'
import classes from './uploads.module.css'

interface UploadTrayProps {
  jobs: readonly UploadJob[]
}

export function UploadTray({ jobs }: UploadTrayProps): ReactElement {
  const [isFolded, setFolded] = useState(false)
  const tray = useRef<HTMLElement>(null)
  useHeightOf(tray)
  useEndOfSettled(jobs, tray)
  const { pathname } = useLocation()
  const shownAt = useRef(pathname)
  useEffect(() => {
    // On phones it collapses on navigation, because it would hide half of the new page.
    if (pathname !== shownAt.current && matchMedia('(max-width: 700px)').matches) setFolded(true)
    shownAt.current = pathname
  }, [pathname])
  return (
    <section ref={tray} aria-label="Uploads" className={classes.tray}>
      <header>
        <h2>Uploads</h2>
        <p role="status">{summaryOf(jobs)}</p>
        <IconButton
          icon={isFolded ? 'chevronUp' : 'chevronDown'}
          label={isFolded ? 'Show uploads' : 'Fold uploads'}
          aria-expanded={!isFolded}
          onClick={() => setFolded(!isFolded)}
        />
        {jobs.some(isEnded) && <IconButton icon="close" label="Clear what has ended" onClick={dismissEnded} />}
      </header>
      {!isFolded && (
        <ul>
          {jobs.map((job) => (
            <UploadRow key={job.key} job={job} />
          ))}
        </ul>
      )}
    </section>
  )
}

const settledMs = 20_000

/** What has nothing left to tell goes after a while, but not under the pointer or while it has the focus. */
function useEndOfSettled(jobs: readonly UploadJob[], tray: React.RefObject<HTMLElement | null>): void {
  const settled = jobs
    .filter(isSettled)
    .map(({ key }) => key)
    .join(' ')
  useEffect(() => {
    if (settled === '') return
    const timer = setInterval(() => {
      if (document.hidden || tray.current?.matches(':hover, :focus-within')) return
      for (const key of settled.split(' ')) dismissUpload(key)
    }, settledMs)
    return () => clearInterval(timer)
  }, [settled, tray])
}

/** Screen readers announce every change, so it contains no progress numbers. */
function summaryOf(jobs: readonly UploadJob[]): string {
  const of = (phase: UploadJob['phase']) => jobs.filter((job) => job.phase === phase).length
  const parts: [number, string][] = [
    [of('doubtful'), of('doubtful') === 1 ? 'question' : 'questions'],
    [of('waiting') + of('checking') + of('sending'), 'to send'],
    [of('processing'), 'in progress'],
    [of('completed') + of('unwatched'), 'done'],
    [of('failed'), 'failed'],
    [of('cancelled'), 'cancelled'],
  ]
  return parts
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`)
    .join(' · ')
}

/** Publishes the tray's height, so that toasts appear above it. */
function useHeightOf(tray: React.RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const { style } = document.documentElement
    const observer = new ResizeObserver(() =>
      style.setProperty('--tray-height', `${tray.current?.offsetHeight ?? 0}px`),
    )
    if (tray.current) observer.observe(tray.current)
    return () => {
      observer.disconnect()
      style.removeProperty('--tray-height')
    }
  }, [tray])
}
