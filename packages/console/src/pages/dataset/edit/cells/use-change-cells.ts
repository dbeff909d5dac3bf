/** Makes changes of cells: one after the other, with marks on the cells meanwhile, conflicts to decide, and undo. */
import { useRef, useState } from 'react'
import { faultOf } from '../../../../components/error-note.tsx'
import { useToast } from '../../../../components/toast.tsx'
import { formatNumber } from '../../../../format.ts'
import { useClient } from '../../../../session/session.tsx'
import type { TableState } from '../../table/use-table.ts'
import { useRenewTable } from '../renew-table.ts'
import { type CellChange, undone } from './cell-change.ts'
import { type CellMarks, noMarks, withMark, withoutMark } from './cell-marks.ts'
import { type CellConflict, type CellFailure, type SentChanges, sendChanges } from './send-changes.ts'

export interface ChangeCells {
  marks: CellMarks
  conflicts: readonly CellConflict[]
  canUndo: boolean
  change(changes: readonly CellChange[]): void
  /** Undoes what was done last. What somebody else has changed since is a conflict, too. */
  undo(): void
  /** The mark of a cell that could not be saved. */
  forget(change: CellChange): void
  takeTheirs(): void
  saveMine(): void
}

const maxUndo = 50

export function useChangeCells(table: TableState): ChangeCells {
  const client = useClient()
  const renew = useRenewTable(table)
  const [marks, setMarks] = useState(noMarks)
  const [done, setDone] = useState<readonly (readonly CellChange[])[]>([])
  const [conflicts, setConflicts] = useState<readonly CellConflict[]>([])
  const last = useRef<Promise<unknown>>(Promise.resolve())
  const tell = useTell()
  const clear = (changes: readonly CellChange[]) => setMarks((before) => changes.reduce(withoutMark, before))
  const undo = (changes: readonly CellChange[] = []) => {
    setDone((before) => before.filter((one) => one !== changes))
    begin(undone(changes), true)
  }
  const finish = async (sent: SentChanges, isUndo: boolean) => {
    if (sent.saved.length > 0 && !isUndo) setDone((before) => [...before, sent.saved].slice(-maxUndo))
    setConflicts((before) => [...before, ...sent.conflicts])
    setMarks((before) => sent.failures.reduce(withFailure, before))
    tell(sent, isUndo ? undefined : () => undo(sent.saved))
    await renew()
    clear([...sent.saved, ...sent.conflicts.map(({ change }) => change)])
  }
  const begin = (changes: readonly CellChange[], isUndo = false) => {
    if (changes.length === 0) return
    setMarks((before) => changes.reduce((all, change) => withMark(all, change), before))
    // A second change of a cell counts on what the first has made of it.
    last.current = last.current.then(async () => finish(await sendChanges(client, table.dataset, changes), isUndo))
  }
  return {
    marks,
    conflicts,
    canUndo: done.length > 0,
    change: (changes) => begin(changes),
    undo: () => undo(done.at(-1)),
    forget: (change) => clear([change]),
    takeTheirs: () => setConflicts([]),
    saveMine() {
      setConflicts([])
      begin(conflicts.flatMap(overTheirs))
    },
  }
}

const withFailure = (marks: CellMarks, { change, error }: CellFailure): CellMarks =>
  withMark(marks, change, faultOf(error).message)

/** A row that was deleted cannot be changed. */
const overTheirs = ({ change, theirs }: CellConflict): CellChange[] =>
  theirs === undefined ? [] : [{ ...change, before: theirs }]

const cellsOf = (count: number): string => (count === 1 ? '1 value' : `${formatNumber(count)} values`)

/** Says what was done, unless it is one cell, which shows it itself. `onUndo` undefined: it was an undo. */
function useTell() {
  const toast = useToast()
  return ({ saved, failures }: SentChanges, onUndo: (() => void) | undefined) => {
    const [first] = failures
    if (first) {
      const { id, column } = first.change
      const others = failures.length > 1 ? ` and ${formatNumber(failures.length - 1)} more` : ''
      toast.fail(`“${column}” of row ${id}${others} could not be saved`, first.error)
    }
    if (!onUndo && saved.length > 0) toast.say({ title: `${cellsOf(saved.length)} as before` })
    if (onUndo && saved.length > 1)
      toast.say({ title: `${cellsOf(saved.length)} changed`, action: { label: 'Undo', onSelect: onUndo } })
  }
}
