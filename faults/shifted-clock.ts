// Loaded before a server: its wall clock is off by the milliseconds in the file CLOCK_SHIFT_FILE, also when they change while it
// runs. Timers and performance.now() go on, as they do on a machine whose clock is set.
import { readFileSync } from 'node:fs'

const file = process.env.CLOCK_SHIFT_FILE ?? ''
const lookMs = 50
let shiftMs = 0

function look(): void {
  try {
    shiftMs = Number(readFileSync(file, 'utf8')) || 0
  } catch {
    // Nobody has set the clock yet.
  }
}
look()
setInterval(look, lookMs).unref()

const TrueDate = Date
const ShiftedDate = function (this: unknown, ...parts: unknown[]): unknown {
  if (!new.target) return new TrueDate(TrueDate.now() + shiftMs).toString()
  const given = parts.length === 0 ? [TrueDate.now() + shiftMs] : parts
  return Reflect.construct(TrueDate, given, new.target)
}
ShiftedDate.prototype = TrueDate.prototype
Object.setPrototypeOf(ShiftedDate, TrueDate)
Object.defineProperty(ShiftedDate, 'now', { value: () => TrueDate.now() + shiftMs })
TrueDate.prototype.constructor = ShiftedDate as unknown as DateConstructor
globalThis.Date = ShiftedDate as unknown as DateConstructor
