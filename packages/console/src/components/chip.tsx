/** A filter that is set: a click removes it. */
import type { ReactElement } from 'react'
import classes from './chip.module.css'
import { Icon } from './icon.tsx'

export function Chip({ label, onRemove }: { label: string; onRemove(): void }): ReactElement {
  return (
    <button type="button" className={classes.chip} aria-label={`Remove filter ${label}`} onClick={onRemove}>
      <span>{label}</span>
      <Icon name="close" size={14} />
    </button>
  )
}
