/** Toasts: short messages about what was done, perhaps with an undo, or what failed. */
import { Toast as Base } from '@base-ui/react/toast'
import type { ReactElement, ReactNode } from 'react'
import { Button, IconButton } from './button.tsx'
import { faultOf } from './error-note.tsx'
import classes from './popup/popup.module.css'

export interface ToastMessage {
  title: string
  text?: string
  action?: { label: string; onSelect(): void }
  /** @defaultValue 5000; with an action 8000 */
  ms?: number
}

/** `say` reports a success, `fail` an error with the server's message. */
export function useToast() {
  const { add, close } = Base.useToastManager()
  return {
    say: ({ title, text, action, ms }: ToastMessage): string =>
      add({
        title,
        description: text,
        timeout: ms ?? (action ? 8000 : 5000),
        ...(action ? { actionProps: { children: action.label, onClick: action.onSelect } } : {}),
      }),
    fail: (title: string, error: unknown): string => {
      const { message, requestId } = faultOf(error)
      return add({
        title,
        description: requestId ? `${message} (request ${requestId})` : message,
        type: 'error',
        priority: 'high',
        timeout: 12_000,
      })
    },
    close,
  }
}

interface ToastProviderProps {
  children: ReactNode
}

export function ToastProvider({ children }: ToastProviderProps): ReactElement {
  return (
    <Base.Provider>
      {children}
      <Base.Portal>
        <Base.Viewport className={classes.toasts}>
          <Toasts />
        </Base.Viewport>
      </Base.Portal>
    </Base.Provider>
  )
}

function Toasts(): ReactElement[] {
  const { toasts, close } = Base.useToastManager()
  return toasts.map((toast) => (
    <Base.Root key={toast.id} toast={toast} className={classes.toast}>
      <div className={classes.toastText}>
        <Base.Title render={<strong />} />
        <Base.Description />
      </div>
      {toast.actionProps && <Base.Action render={<Button />} onClick={() => close(toast.id)} />}
      <Base.Close render={<IconButton icon="close" label="Dismiss" />} />
    </Base.Root>
  ))
}
