/** A popover: a small panel next to the button that opens it. */
import { Popover as Base } from '@base-ui/react/popover'
import type { ReactElement, ReactNode } from 'react'
import classes from './popup.module.css'

export interface PopoverProps {
  trigger: ReactElement
  /** The accessible name. */
  label: string
  children: ReactNode
  isOpen?: boolean
  onOpenChange?: (isOpen: boolean) => void
  /** Opens like a tooltip too; a click or a touch still does. */
  isOpenedByHover?: boolean
}

export function Popover(props: PopoverProps): ReactElement {
  const { trigger, label, children, isOpen, onOpenChange, isOpenedByHover = false } = props
  return (
    <Base.Root {...(isOpen === undefined ? {} : { open: isOpen })} onOpenChange={(open) => onOpenChange?.(open)}>
      <Base.Trigger render={trigger} openOnHover={isOpenedByHover} />
      <Base.Portal>
        <Base.Positioner sideOffset={4} align="start" className={classes.positioner}>
          <Base.Popup aria-label={label} className={`${classes.popup} ${classes.popover}`}>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
