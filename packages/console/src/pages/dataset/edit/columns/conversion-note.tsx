/** What another type would do to the values of a column: how many are lost or written in another way, with examples. */
import type { DatasetsColumnConversionAnswer } from '@graticule/client'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { ErrorNote } from '../../../../components/error-note.tsx'
import { Checkbox } from '../../../../components/field.tsx'
import { Note, Skeleton } from '../../../../components/note.tsx'
import { layout } from '../../../../components/page.tsx'
import { formatNumber } from '../../../../format.ts'

interface ConversionNoteProps {
  conversion: UseQueryResult<DatasetsColumnConversionAnswer>
  isLossMeant: boolean
  onLossMeant(isMeant: boolean): void
}

export function ConversionNote({ conversion, isLossMeant, onLossMeant }: ConversionNoteProps): ReactElement | null {
  const { data, error, isFetching, refetch } = conversion
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />
  if (isFetching) return <Skeleton height={40} />
  if (!data) return null
  const { values, lost, examples } = data
  return (
    <Note kind={lost > 0 ? 'warn' : 'info'}>
      <div className={layout.section}>
        <p>{wordsOf(data)}</p>
        {examples.length > 0 && (
          <ul>
            {examples.map(({ from, to }) => (
              <li key={from}>
                “{from}” → {to === null ? <em>null</em> : `“${to}”`}
              </li>
            ))}
          </ul>
        )}
        {lost > 0 && (
          <Checkbox
            label={`Make ${formatNumber(lost)} of ${formatNumber(values)} values null`}
            isChecked={isLossMeant}
            onChange={onLossMeant}
          />
        )}
      </div>
    </Note>
  )
}

function wordsOf({ values, lost, changed, dropsDefault }: DatasetsColumnConversionAnswer): string {
  const all = values === 1 ? 'The only value' : `All ${formatNumber(values)} values`
  return [
    lost > 0 && `${formatNumber(lost)} of ${formatNumber(values)} values are none of the new type: they would be lost.`,
    changed > 0 && `${formatNumber(changed)} would be written in another way.`,
    values > 0 && lost + changed === 0 && `${all} can be converted, and stay the same.`,
    values === 0 && 'The column has no values.',
    dropsDefault && 'Its default is removed, unless you give another one.',
  ]
    .filter(Boolean)
    .join(' ')
}
