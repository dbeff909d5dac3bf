/**
 * The confirmation dialog for destructive actions: it says what will be lost; the button that acts is last and not focused.
 * `mustType` requires typing a name, for what cannot be restored.
 */
import { AlertDialog as Base } from '@base-ui/react/alert-dialog'
import { createContext, type ReactElement, type ReactNode, use, useCallback, useRef, useState } from 'react'
import { Button } from './button.tsx'
import { ErrorNote } from './error-note.tsx'
import { Field } from './field.tsx'
import classes from './popup/popup.module.css'

export interface Question {
  title: string
  /** The consequences. */
  body: ReactNode
  /** The verb: "Delete". */
  action: string
  mustType?: string
  /** The dialog stays open until this resolves, and shows an error. */
  onConfirm(): Promise<unknown>
}

const ConfirmContext = createContext<(question: Question) => void>(() => {})

/** Opens the dialog; `onConfirm` runs if the user confirms. */
export const useConfirm = (): ((question: Question) => void) => use(ConfirmContext)

interface ConfirmProviderProps {
  children: ReactNode
}

export function ConfirmProvider({ children }: ConfirmProviderProps): ReactElement {
  const [question, setQuestion] = useState<Question | null>(null)
  const [isOpen, setOpen] = useState(false)
  const ask = useCallback((next: Question) => {
    setQuestion(next)
    setOpen(true)
  }, [])
  return (
    <ConfirmContext value={ask}>
      {children}
      {question && (
        <ConfirmDialog key={question.title} question={question} isOpen={isOpen} onClose={() => setOpen(false)} />
      )}
    </ConfirmContext>
  )
}

interface ConfirmDialogProps {
  question: Question
  isOpen: boolean
  onClose(): void
}

function ConfirmDialog({ question, isOpen, onClose }: ConfirmDialogProps): ReactElement {
  const [typed, setTyped] = useState('')
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const cancel = useRef<HTMLButtonElement>(null)
  const { title, body, action, mustType } = question
  const confirm = async () => {
    setBusy(true)
    setError(null)
    try {
      await question.onConfirm()
      onClose()
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={classes.backdrop} />
        <Base.Popup className={classes.dialog} initialFocus={cancel}>
          <div className={classes.head}>
            <Base.Title>{title}</Base.Title>
          </div>
          <div className={classes.body}>
            <Base.Description render={<div />}>{body}</Base.Description>
            {mustType && (
              <Field label={`Type “${mustType}” to confirm`}>
                {(props) => <input {...props} value={typed} onChange={(event) => setTyped(event.target.value)} />}
              </Field>
            )}
            {error !== null && <ErrorNote error={error} />}
          </div>
          <div className={classes.foot}>
            <Button ref={cancel} onClick={onClose}>
              Cancel
            </Button>
            <Button
              variant="danger"
              disabled={isBusy || (mustType !== undefined && typed !== mustType)}
              onClick={confirm}
            >
              {isBusy ? 'Working …' : action}
            </Button>
          </div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
