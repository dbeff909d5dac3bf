/** A line diff of two configurations, with signs in addition to colours. */
import type { ReactElement } from 'react'
import classes from './configuration.module.css'
import { diffJson, withoutEqualRuns } from './line-diff.ts'

const signs = { same: ' ', added: '+', removed: '−' }

interface DiffViewProps {
  label: string
  before: unknown
  after: unknown
}

export function DiffView({ label, before, after }: DiffViewProps): ReactElement {
  const lines = diffJson(before, after)
  const count = (kind: 'added' | 'removed') => lines.filter((line) => line.kind === kind).length
  const parts = withoutEqualRuns(lines)
  return (
    <figure className={classes.diff}>
      <figcaption>
        {label}: {count('added')} added, {count('removed')} removed
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long differences scroll, also by keyboard */}
      <section tabIndex={0} aria-label={label} className={classes.diffLines}>
        {parts.map((part, index) =>
          part.kind === 'skipped' ? (
            <div key={index} className={classes.skipped}>
              … {part.count} {part.count === 1 ? 'line' : 'lines'} unchanged
            </div>
          ) : (
            <div key={index} className={classes[part.kind]}>
              <span className={classes.sign}>{signs[part.kind]}</span>
              {part.text}
            </div>
          ),
        )}
      </section>
    </figure>
  )
}
