/**
 * Global shortcuts. Single letters work only outside inputs and can be disabled (WCAG 2.1.4); this preference is in local
 * storage.
 */
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useRef } from 'react'
import { mainPages, otherPages } from './navigation.ts'

const storageName = 'graticule.letter-shortcuts'
/** How long `g` waits for the letter after it. */
const sequenceMs = 1500

export const areLettersOn = (): boolean => localStorage.getItem(storageName) !== 'off'
export const setLettersOn = (areOn: boolean): void => localStorage.setItem(storageName, areOn ? 'on' : 'off')

/** Whether the event's target is a text input. */
export function isTyping(event: Event): boolean {
  const [target] = event.composedPath()
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName)
}

/** Calls `onKey` for a single letter outside inputs, without modifiers, while no dialog is open. */
export function useLetter(key: string, onKey: () => void): void {
  const act = useEffectEvent(onKey)
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key !== key || !isLetter(event)) return
      event.preventDefault()
      act()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [key])
}

function isLetter(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return false
  return areLettersOn() && !isTyping(event) && !document.querySelector('[role="dialog"], [role="alertdialog"]')
}

export interface ShellActions {
  onPalette(): void
  onHelp(): void
  onRail(): void
}

export function useShellShortcuts({ onPalette, onHelp, onRail }: ShellActions): void {
  const navigate = useNavigate()
  const leading = useRef(Number.NEGATIVE_INFINITY)
  const go = (letter: string): boolean => {
    const page = [...mainPages, ...otherPages].find((one) => one.letter === letter)
    if (page) void navigate({ to: page.to })
    return page !== undefined
  }
  const letters: Record<string, () => boolean | undefined> = {
    '?': () => done(onHelp),
    '[': () => done(onRail),
    '/': focusSearch,
  }
  /** Handles a key; returns whether it was a shortcut. */
  const act = useEffectEvent((event: KeyboardEvent): boolean => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') return done(onPalette)
    if (!isLetter(event)) return false
    const isSecond = event.timeStamp - leading.current < sequenceMs
    leading.current = event.key === 'g' && !isSecond ? event.timeStamp : Number.NEGATIVE_INFINITY
    return isSecond ? go(event.key) : (letters[event.key]?.() ?? false)
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (act(event)) event.preventDefault()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

function done(work: () => void): true {
  work()
  return true
}

/** Focuses the page's search field, if it has one. */
function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>('main input[type="search"]')
  field?.focus()
  return field !== null
}
