/** The browser's question before a tab is closed with something unsaved. Other pages of the console lose nothing: their state is kept. */
import { useEffect } from 'react'

export function useLeaveWarning(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isOn])
}
