import { report } from '../../kernel/events.ts'
import type { RunEvent, WorkerRun } from '../invocation/offer.ts'
import type { AgentLimits } from '../limits.ts'
import type { CancelReason, Invoke, PlatformFrame, WorkerFrame } from '../protocol.ts'
import { createDetachingMap, type DetachingMap } from './detaching-map.ts'

/** The slots of one worker, a semaphore: one is taken when an invocation is offered, and released exactly once. */
export type WorkerSlots = {
  count(): number
  offer(workerId: string, invoke: Invoke, on: (event: RunEvent) => void): WorkerRun
  read(frame: InvocationFrame): void
  /** The worker is gone, and all its invocations with it. */
  lose(isStopping: boolean): void
}

type InvocationFrame = Exclude<WorkerFrame, { t: 'hello' | 'status' | 'drain' }>

type Slot = {
  readonly id: string
  readonly workerId: string
  /** A cancelled invocation holds its slot until the worker confirms or a grace period ends, or it would be overloaded. */
  state: 'offered' | 'accepted' | 'cancelled'
  /** Flow control: bytes of text that the worker may still send. */
  credit: number
  timer: NodeJS.Timeout | undefined
  cancelledAt: number | undefined
  on(event: RunEvent): void
}

type WorkerSlotsOptions = {
  limits: AgentLimits
  send(frame: PlatformFrame): void
  /** The worker broke the protocol. */
  breach(): void
  onChange(): void
}

type SlotTable = WorkerSlotsOptions & { readonly slots: DetachingMap<Slot> }

export function createWorkerSlots(options: WorkerSlotsOptions): WorkerSlots {
  const table: SlotTable = { ...options, slots: createDetachingMap() }
  return {
    count: () => table.slots.size,
    offer: (workerId, invoke, on) => offer(table, workerId, invoke, on),
    read: (frame) => read(table, frame),
    lose: (isStopping) => lose(table, isStopping),
  }
}

function offer(table: SlotTable, workerId: string, invoke: Invoke, on: (event: RunEvent) => void): WorkerRun {
  const slot: Slot = {
    id: invoke.id,
    workerId,
    state: 'offered',
    credit: invoke.window,
    timer: undefined,
    cancelledAt: undefined,
    on,
  }
  slot.timer = awakeTimeout(() => {
    cancel(table, slot, 'ack_timeout')
    on({ t: 'declined', why: 'silent' })
  }, table.limits.acceptMs)
  table.slots.set(slot.id, slot)
  table.onChange()
  table.send(invoke)
  return {
    credit(bytes) {
      if (!isHeld(table, slot)) return
      slot.credit += bytes
      table.send({ t: 'credit', id: slot.id, bytes })
    },
    cancel: (reason) => cancel(table, slot, reason),
  }
}

const timeSlices = 10

/** A timeout of the time that this process runs: what it did not read while it stood still is no silence of the worker. */
function awakeTimeout(act: () => void, ms: number): NodeJS.Timeout {
  let left = timeSlices
  const timer = setInterval(() => {
    left--
    if (left > 0) return
    clearInterval(timer)
    act()
  }, ms / timeSlices)
  return timer
}

const isHeld = ({ slots }: SlotTable, slot: Slot): boolean => slots.get(slot.id) === slot && slot.state !== 'cancelled'

function release({ slots, onChange }: SlotTable, slot: Slot): void {
  clearTimeout(slot.timer)
  slots.delete(slot.id)
  if (slot.cancelledAt !== undefined) report('cancelled', { seconds: (performance.now() - slot.cancelledAt) / 1000 })
  onChange()
}

function cancel(table: SlotTable, slot: Slot, reason: CancelReason): void {
  if (!isHeld(table, slot)) return
  clearTimeout(slot.timer)
  slot.state = 'cancelled'
  slot.cancelledAt = performance.now()
  slot.timer = setTimeout(() => release(table, slot), table.limits.cancelGraceMs)
  table.send({ t: 'cancel', id: slot.id, reason })
}

function read(table: SlotTable, frame: InvocationFrame): void {
  const slot = table.slots.get(frame.id)
  if (!slot || slot.state === 'cancelled') reportLate(frame)
  if (!slot) return
  if (frame.t === 'reject') reject(table, slot, frame)
  else {
    // Output without `accept` means that it was accepted.
    accept(slot)
    handle(table, slot, frame)
  }
}

/** Only output counts as late: terminal frames are the expected answer to `cancel`. */
function reportLate({ t }: InvocationFrame): void {
  if (t === 'delta' || t === 'start' || t === 'progress') report('lateFrame', {})
}

function accept(slot: Slot): void {
  if (slot.state !== 'offered') return
  clearTimeout(slot.timer)
  slot.state = 'accepted'
  slot.on({ t: 'accepted', workerId: slot.workerId })
}

function reject(table: SlotTable, slot: Slot, { code, message }: Extract<InvocationFrame, { t: 'reject' }>): void {
  if (code === 'busy' && slot.state === 'offered') end(table, slot, { t: 'declined', why: 'busy' })
  else end(table, slot, { t: 'error', code: 'rejected', ...(message !== undefined && { message }) })
}

function handle(table: SlotTable, slot: Slot, event: Exclude<InvocationFrame, { t: 'reject' }>): void {
  if (event.t === 'done' || event.t === 'error' || event.t === 'cancelled') end(table, slot, event)
  else if (event.t === 'delta') takeText(table, slot, event.text)
  else if (event.t !== 'accept' && slot.state === 'accepted') slot.on(event)
}

/** Releases the slot, and passes the terminal event on unless the invocation was cancelled. */
function end(table: SlotTable, slot: Slot, event: RunEvent): void {
  const isWanted = slot.state !== 'cancelled'
  release(table, slot)
  if (isWanted) slot.on(event)
}

/** A worker that sends without credit ignores back-pressure and would fill the memory, so it is disconnected. */
function takeText(table: SlotTable, slot: Slot, text: string): void {
  if (text === '') return
  if (slot.credit <= 0) {
    table.breach()
    return
  }
  slot.credit -= Buffer.byteLength(text)
  if (slot.state === 'accepted') slot.on({ t: 'delta', text })
}

function lose({ slots }: SlotTable, isStopping: boolean): void {
  const all = slots.values()
  for (const slot of all) slots.delete(slot.id)
  for (const slot of all) {
    clearTimeout(slot.timer)
    if (slot.state === 'offered') slot.on({ t: 'declined', why: 'nobody' })
    if (slot.state === 'accepted') slot.on({ t: 'lost', isStopping })
  }
}
