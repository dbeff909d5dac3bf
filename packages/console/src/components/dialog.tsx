/** A modal dialog: centred, or a sheet at the side (on phones at the bottom). */
import { Dialog as Base } from '@base-ui/react/dialog'
import { type ReactElement, type ReactNode, useRef } from 'react'
import { IconButton } from './button.tsx'
import classes from './popup/popup.module.css'

export interface DialogProps {
  isOpen: boolean
  onClose(): void
  title: string
  children: ReactNode
  /** Buttons; the primary one is last. */
  actions?: ReactNode
  kind?: 'dialog' | 'wide' | 'sheet'
}

const shapes = { dialog: classes.dialog, wide: `${classes.dialog} ${classes.wide}`, sheet: classes.sheet }

const focusable =
  ':is(button, select, textarea, a[href], input:not([hidden], [type="radio"]:not(:checked))):not(:disabled)'

export function Dialog({ isOpen, onClose, title, children, actions, kind = 'dialog' }: DialogProps): ReactElement {
  const content = useRef<HTMLDivElement>(null)
  // Focuses the first control instead of the close button; not after a touch, which would open the screen keyboard.
  const firstControl = (opener: string) =>
    (opener !== 'touch' && content.current?.querySelector<HTMLElement>(focusable)) || true
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={classes.backdrop} />
        <Base.Popup className={shapes[kind]} initialFocus={firstControl}>
          <div className={classes.head}>
            <Base.Title>{title}</Base.Title>
            <Base.Close render={<IconButton icon="close" label="Close" />} />
          </div>
          <div ref={content} className={classes.body}>
            {children}
          </div>
          {actions && <div className={classes.foot}>{actions}</div>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
