/** A dropdown menu of actions. */
import { Menu as Base } from '@base-ui/react/menu'
import type { ReactElement, ReactNode } from 'react'
import { Icon } from '../icon.tsx'
import type { IconName } from '../icons.ts'
import classes from './popup.module.css'

export interface MenuItem {
  label: string
  icon?: IconName
  isDanger?: boolean
  /** Why the item is disabled. */
  disabledReason?: string | undefined
  onSelect(): void
}

export interface MenuProps {
  /** The button, such as `<Button>` or `<IconButton>`. */
  trigger: ReactElement
  /** `'-'` is a separator. */
  items: readonly (MenuItem | '-')[]
  /** Above the items, such as who is signed in. */
  children?: ReactNode
  /** Controls the menu from outside, for example by a keyboard shortcut. */
  isOpen?: boolean | undefined
  onOpenChange?: ((isOpen: boolean) => void) | undefined
}

export function Menu({ trigger, items, children, isOpen, onOpenChange }: MenuProps): ReactElement {
  return (
    <Base.Root {...(isOpen === undefined ? {} : { open: isOpen })} onOpenChange={(open) => onOpenChange?.(open)}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner sideOffset={4} align="end" className={classes.positioner}>
          <Base.Popup className={`${classes.popup} ${classes.menu}`}>
            {children}
            {items.map((item, index) =>
              item === '-' ? (
                <Base.Separator key={`line-${index}`} className={classes.separator} />
              ) : (
                <Base.Item
                  key={item.label}
                  disabled={item.disabledReason !== undefined}
                  title={item.disabledReason}
                  className={`${classes.item} ${item.isDanger ? classes.itemDanger : ''}`}
                  onClick={item.onSelect}
                >
                  {item.icon && <Icon name={item.icon} />}
                  {item.label}
                </Base.Item>
              ),
            )}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
