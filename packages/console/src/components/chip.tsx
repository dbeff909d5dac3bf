/** A filter that is set: a click removes it. */
import type { ReactElement } from 'react'
import classes from './chip.module.css'
import { Icon } from './icon.tsx'

interface ChipProps {
  label: string
  onRemove(): void
}

export function Chip({ label, onRemove }: ChipProps): ReactElement {
  return (
    <button type="button" className={classes.chip} aria-label={`Remove filter ${label}`} onClick={onRemove}>
      <span>{label}</span>
      <Icon name="close" size={14} />
    </button>
  )
}
