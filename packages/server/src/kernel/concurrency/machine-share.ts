/** This process's place among the workers of one machine, which share what a limit allows the machine. */
export type MachineShare = {
  /** From 1. */
  readonly number: number
  readonly count: number
}

export const wholeMachine: MachineShare = { number: 1, count: 1 }

/** An equal part, but at least `fewest`, where each worker must be able to do the work. */
export const partOf = (total: number, { count }: MachineShare, fewest = 1): number =>
  Math.max(Math.min(fewest, total), Math.floor(total / count))

/** A part such that those of all workers add up to the total. Some have none where the total is small. */
export const exactPartOf = (total: number, { number, count }: MachineShare): number =>
  Math.floor(total / count) + (number <= total % count ? 1 : 0)
