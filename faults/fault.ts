import type { Random } from '../packages/server/testing/uploads/random.ts'
import type { FaultContext } from './context.ts'

/** What a run measured, in the order of the report. */
export type Measurements = Readonly<Record<string, string | number>>

/** Something that goes wrong, and what is promised all the same. */
export type Fault = {
  readonly name: string
  /** As docs/promises.md says it, with its bound. */
  readonly promise: string
  /** Not part of a run of all. */
  readonly isOnDemand?: boolean
  /** Throws when the promise is broken. */
  run(context: FaultContext, random: Random): Promise<Measurements>
}

/** A fault that this machine cannot have, for want of a program or a right. */
export class NotHere extends Error {}

/** A broken promise. */
export function expect(isKept: boolean, otherwise: () => string): asserts isKept {
  if (!isKept) throw new Error(otherwise())
}
