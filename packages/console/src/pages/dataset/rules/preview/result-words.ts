/** What somebody would see and may do by rules, in sentences. */
import type { DatasetsTryRulesAnswer } from '@graticule/client'
import { formatNumber } from '../../../../format.ts'
import type { BoundCallers } from '../rule.ts'
import { type Viewer, viewerWords } from './viewer.ts'

type Counts = Pick<DatasetsTryRulesAnswer, 'count' | 'total'>
type Writes = Pick<DatasetsTryRulesAnswer, 'mayAppend' | 'mayChange' | 'mayDelete'>

/** "emmy@example.org sees 2 of 3 rows." */
export function seenWords(viewer: Viewer, { count, total }: Counts): string {
  const who = viewerWords(viewer)
  if (total === 0) return 'The dataset has no rows yet.'
  if (count === 0) return `${who} sees no row of ${formatNumber(total)}.`
  if (count === total) return `${who} sees ${total === 1 ? 'the only row' : `all ${formatNumber(total)} rows`}.`
  return `${who} sees ${formatNumber(count)} of ${formatNumber(total)} rows.`
}

/** "May add rows, change 2 and delete none." */
export function writeWords({ mayAppend, mayChange, mayDelete }: Writes): string {
  if (!mayAppend && mayChange === 0 && mayDelete === 0) return 'May write nothing.'
  const number = (count: number) => (count === 0 ? 'none' : formatNumber(count))
  return `May add ${mayAppend ? 'rows' : 'none'}, change ${number(mayChange)} and delete ${number(mayDelete)}, as far as the key grants it.`
}

/** Keys without a user are only bound where the rules say so. */
export const isUnbound = (viewer: Viewer, rulesFor: BoundCallers): boolean =>
  viewer.kind === 'anyone' && rulesFor === 'users'
