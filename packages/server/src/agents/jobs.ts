import { report } from '../events.ts'
import type { Limits } from './limits.ts'
import type { CancelReason, Invoke, PlatformFrame, WorkerFrame } from './protocol.ts'
import { createRegister, type Register } from './register.ts'
import type { Run, RunEvent } from './run.ts'

/** What one worker works at. An entry is a slot: taken when the invocation is offered, given back exactly once. */
export type Jobs = {
  count(): number
  offer(workerId: string, invoke: Invoke, on: (event: RunEvent) => void): Run
  read(frame: JobFrame): void
  /** The worker is gone. */
  lose(): void
}

type JobFrame = Exclude<WorkerFrame, { t: 'hello' | 'status' | 'drain' }>

type Job = {
  readonly id: string
  readonly workerId: string
  /** `cancelled` holds its slot until the worker confirms, or for a while: freed early, it would overload the worker. */
  state: 'offered' | 'accepted' | 'cancelled'
  /** Bytes of text that may still come. */
  credit: number
  timer: NodeJS.Timeout | undefined
  cancelledAt: number | undefined
  on(event: RunEvent): void
}

type JobsOptions = {
  limits: Limits
  send(frame: PlatformFrame): void
  /** The worker broke the protocol. */
  breach(): void
  onChange(): void
}

type Desk = JobsOptions & { readonly jobs: Register<Job> }

export function createJobs(options: JobsOptions): Jobs {
  const desk: Desk = { ...options, jobs: createRegister() }
  return {
    count: () => desk.jobs.size,
    offer: (workerId, invoke, on) => offer(desk, workerId, invoke, on),
    read: (frame) => read(desk, frame),
    lose: () => lose(desk),
  }
}

function offer(desk: Desk, workerId: string, invoke: Invoke, on: (event: RunEvent) => void): Run {
  const job: Job = {
    id: invoke.id,
    workerId,
    state: 'offered',
    credit: invoke.window,
    timer: undefined,
    cancelledAt: undefined,
    on,
  }
  job.timer = setTimeout(() => {
    cancel(desk, job, 'ack_timeout')
    on({ t: 'declined', why: 'silent' })
  }, desk.limits.acceptMs)
  desk.jobs.set(job.id, job)
  desk.onChange()
  desk.send(invoke)
  return {
    credit(bytes) {
      if (!isHeld(desk, job)) return
      job.credit += bytes
      desk.send({ t: 'credit', id: job.id, bytes })
    },
    cancel: (reason) => cancel(desk, job, reason),
  }
}

const isHeld = ({ jobs }: Desk, job: Job): boolean => jobs.get(job.id) === job && job.state !== 'cancelled'

function release({ jobs, onChange }: Desk, job: Job): void {
  clearTimeout(job.timer)
  jobs.delete(job.id)
  if (job.cancelledAt !== undefined) report('cancelled', { seconds: (performance.now() - job.cancelledAt) / 1000 })
  onChange()
}

function cancel(desk: Desk, job: Job, reason: CancelReason): void {
  if (!isHeld(desk, job)) return
  clearTimeout(job.timer)
  job.state = 'cancelled'
  job.cancelledAt = performance.now()
  job.timer = setTimeout(() => release(desk, job), desk.limits.cancelGraceMs)
  desk.send({ t: 'cancel', id: job.id, reason })
}

function read(desk: Desk, frame: JobFrame): void {
  const job = desk.jobs.get(frame.id)
  if (!job || job.state === 'cancelled') reportLate(frame)
  if (!job) return
  if (frame.t === 'reject') reject(desk, job, frame)
  else {
    // Output without accept says that it was accepted.
    accept(job)
    hear(desk, job, frame)
  }
}

/** What ends an invocation is not late: a worker that was told to stop says so. */
function reportLate({ t }: JobFrame): void {
  if (t === 'delta' || t === 'start' || t === 'progress') report('lateFrame', {})
}

function accept(job: Job): void {
  if (job.state !== 'offered') return
  clearTimeout(job.timer)
  job.state = 'accepted'
  job.on({ t: 'accepted', workerId: job.workerId })
}

function reject(desk: Desk, job: Job, { code, message }: Extract<JobFrame, { t: 'reject' }>): void {
  if (code === 'busy' && job.state === 'offered') end(desk, job, { t: 'declined', why: 'busy' })
  else end(desk, job, { t: 'error', code: 'rejected', ...(message !== undefined && { message }) })
}

function hear(desk: Desk, job: Job, event: Exclude<JobFrame, { t: 'reject' }>): void {
  if (event.t === 'done' || event.t === 'error' || event.t === 'cancelled') end(desk, job, event)
  else if (event.t === 'delta') takeText(desk, job, event.text)
  else if (event.t !== 'accept' && job.state === 'accepted') job.on(event)
}

/** The last that is heard of a job. */
function end(desk: Desk, job: Job, event: RunEvent): void {
  const isWanted = job.state !== 'cancelled'
  release(desk, job)
  if (isWanted) job.on(event)
}

/** Whoever sends without credit does not keep to the window, and would fill the memory. */
function takeText(desk: Desk, job: Job, text: string): void {
  if (text === '') return
  if (job.credit <= 0) {
    desk.breach()
    return
  }
  job.credit -= Buffer.byteLength(text)
  if (job.state === 'accepted') job.on({ t: 'delta', text })
}

function lose({ jobs }: Desk): void {
  const all = jobs.values()
  for (const job of all) jobs.delete(job.id)
  for (const job of all) {
    clearTimeout(job.timer)
    if (job.state === 'offered') job.on({ t: 'declined', why: 'nobody' })
    if (job.state === 'accepted') job.on({ t: 'lost' })
  }
}
