/** A dialog with a form: Cancel, a button that sends it, and Enter in any of its fields. */
import type { ReactElement, ReactNode } from 'react'
import { Button } from './button.tsx'
import { Dialog, type DialogProps } from './dialog.tsx'
import { layout } from './page.tsx'

export interface FormDialogProps extends Pick<DialogProps, 'title' | 'kind' | 'onClose'> {
  children: ReactNode
  /** What the button says, and what it says while the form is being sent. */
  labels: readonly [action: string, pending: string]
  isPending: boolean
  /** Why the form cannot be sent yet. */
  missing: string | undefined
  onSubmit(): void
}

export function FormDialog({
  labels,
  isPending,
  missing,
  onSubmit,
  children,
  ...dialog
}: FormDialogProps): ReactElement {
  const [action, pending] = labels
  return (
    <Dialog
      {...dialog}
      isOpen
      actions={
        <>
          <Button onClick={dialog.onClose}>Cancel</Button>
          <Button variant="primary" disabled={isPending} disabledReason={missing} onClick={onSubmit}>
            {isPending ? pending : action}
          </Button>
        </>
      }
    >
      <form
        className={layout.section}
        onSubmit={(event) => {
          event.preventDefault()
          if (!missing && !isPending) onSubmit()
        }}
      >
        {children}
        {/* A form is sent by Enter only when it has a button of its own. */}
        <button type="submit" hidden>
          {action}
        </button>
      </form>
    </Dialog>
  )
}
