/** What rules are, and ways to begin, while a dataset has none. */
import type { ReactElement } from 'react'
import { Button } from '../../../components/button.tsx'
import classes from './rules.module.css'
import { type Template, templates } from './templates.ts'

export interface EmptyRulesProps {
  onTemplate(template: Template): void
  onAdd(): void
}

export function EmptyRules({ onTemplate, onAdd }: EmptyRulesProps): ReactElement {
  return (
    <>
      <p>
        Without rules every key that may read this dataset sees all its rows. Rules say which rows and attributes a user
        sees and writes: each customer their own parcels, each clerk those of their town.
      </p>
      <ul aria-label="Templates" className={classes.cards}>
        {templates.map((template) => (
          <li key={template.label} className={classes.card}>
            <p>
              <strong>{template.label}</strong>
              <span className={classes.templateText}>{template.text}</span>
            </p>
            <div className={classes.cardActions}>
              <Button aria-label={`Use the template: ${template.label}`} onClick={() => onTemplate(template)}>
                Use
              </Button>
            </div>
          </li>
        ))}
      </ul>
      <div className={classes.line}>
        <Button variant="primary" icon="plus" onClick={onAdd}>
          Add rule
        </Button>
      </div>
    </>
  )
}
