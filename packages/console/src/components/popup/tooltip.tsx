/** A tooltip, shown while its control is hovered or focused. */
import { Tooltip as Base } from '@base-ui/react/tooltip'
import type { ReactElement } from 'react'
import classes from './popup.module.css'

interface TooltipProps {
  text: string
  children: ReactElement
}

export function Tooltip({ text, children }: TooltipProps): ReactElement {
  return (
    <Base.Root>
      <Base.Trigger render={children} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} className={classes.positioner}>
          <Base.Popup className={classes.tooltip}>{text}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
