/** The editor's shortcuts: Ctrl+S everywhere; Ctrl+Z, Ctrl+Shift+Z and Ctrl+Y outside text fields, which have their own undo. */
import { useEffect, useEffectEvent } from 'react'
import { isTyping } from '../../shell/shortcuts.ts'

interface EditorActions {
  undo(): void
  redo(): void
  save(): void
}

export function useEditorShortcuts({ undo, redo, save }: EditorActions): void {
  const act = useEffectEvent((event: KeyboardEvent) => {
    const name = [event.shiftKey && 'shift', event.key.toLowerCase()].filter(Boolean).join(' ')
    const action = { s: save, z: undo, y: redo, 'shift z': redo }[name]
    if (!action || (action !== save && isTextField(event))) return
    event.preventDefault()
    action()
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isCommand = (event.ctrlKey || event.metaKey) && !event.altKey
      if (isCommand && !event.defaultPrevented) act(event)
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

/** Sliders, checkboxes and lists do not count, because they have no undo of their own. */
function isTextField(event: KeyboardEvent): boolean {
  const [target] = event.composedPath()
  if (target instanceof HTMLInputElement) return /^(text|search|number|date)$/.test(target.type)
  return isTyping(event) && !(target instanceof HTMLSelectElement)
}
