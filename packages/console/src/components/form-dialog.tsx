/** A dialog with a form: Cancel, a button that sends it, Enter in any of its fields, and the error of the last attempt. */
import { type ReactElement, type ReactNode, useEffect, useId, useRef } from 'react'
import { Button } from './button.tsx'
import { Dialog, type DialogProps } from './dialog.tsx'
import { ErrorNote } from './error-note.tsx'
import type { IconName } from './icons.ts'
import { layout } from './page.tsx'

export interface FormDialogProps extends Pick<DialogProps, 'title' | 'kind' | 'onClose'> {
  children: ReactNode
  /** What the button says, and what it says while the form is being sent. */
  labels: readonly [action: string, pending: string]
  /** Of that button. */
  icon?: IconName | undefined
  isPending: boolean
  /** Why the form cannot be sent yet. */
  missing?: string | undefined
  /** What is wrong, unless the fields show all of it. */
  error?: unknown
  /** Whether the form checks its fields itself, instead of the browser. */
  isCheckedHere?: boolean
  onSubmit(): void
}

export function FormDialog(props: FormDialogProps): ReactElement {
  const { labels, icon, isPending, missing, error, isCheckedHere, onSubmit, children, ...dialog } = props
  const id = useId()
  const form = useFaultInSight(isPending)
  const [action, pending] = labels
  return (
    <Dialog
      {...dialog}
      isOpen
      actions={
        <>
          <Button onClick={dialog.onClose}>Cancel</Button>
          <Button variant="primary" type="submit" icon={icon} form={id} disabled={isPending} disabledReason={missing}>
            {isPending ? pending : action}
          </Button>
        </>
      }
    >
      <form
        id={id}
        ref={form}
        className={layout.section}
        noValidate={isCheckedHere}
        onSubmit={(event) => {
          event.preventDefault()
          // In React an event also reaches the form that has opened the dialog, although the page has the dialog elsewhere.
          event.stopPropagation()
          if (!missing && !isPending) onSubmit()
        }}
      >
        {children}
        {error ? <ErrorNote error={error} /> : null}
      </form>
    </Dialog>
  )
}

/** Shows the first fault of an attempt that failed: in a long form it may be far from the button. */
function useFaultInSight(isPending: boolean) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (isPending) return
    const fault = form.current?.querySelector('[aria-invalid="true"], [role="alert"]')
    fault?.scrollIntoView({ block: 'nearest' })
  }, [isPending])
  return form
}
