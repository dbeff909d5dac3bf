/** A rule as a sentence, with what is wrong with it and perhaps its buttons. */
import type { ReactElement, ReactNode } from 'react'
import type { ColumnType } from '../attribute.ts'
import type { Rule } from './rule.ts'
import { grantWords, whoWords } from './rule-sentence.ts'
import classes from './rules.module.css'

export interface RuleCardProps {
  rule: Rule
  types: ReadonlyMap<string, ColumnType>
  faults?: readonly { path: string; message: string }[]
  /** Its buttons. */
  children?: ReactNode
}

export function RuleCard({ rule, types, faults = [], children }: RuleCardProps): ReactElement {
  return (
    <li className={classes.card} data-faulty={faults.length > 0}>
      <p>
        <strong>{whoWords(rule)}</strong> {grantWords(rule, types)}
      </p>
      {children && <div className={classes.cardActions}>{children}</div>}
      {faults.length > 0 && (
        <div role="alert" className={classes.faults}>
          <ul>
            {faults.map(({ path, message }) => (
              <li key={`${path} ${message}`}>
                {path && <code>{path}</code>} {message}
              </li>
            ))}
          </ul>
        </div>
      )}
    </li>
  )
}
