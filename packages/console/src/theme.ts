/** The theme: light, dark, or the system's. This preference is in local storage. */
import { useSyncExternalStore } from 'react'

export const themes = ['auto', 'light', 'dark'] as const
export type ThemeChoice = (typeof themes)[number]

const storageName = 'graticule.theme'
const system = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()
let choice: ThemeChoice = themes.find((theme) => theme === localStorage.getItem(storageName)) ?? 'auto'
show()
system.addEventListener('change', notify)

export function chooseTheme(next: ThemeChoice): void {
  choice = next
  localStorage.setItem(storageName, next)
  show()
  notify()
}

function show(): void {
  if (choice === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = choice
}

function notify(): void {
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useThemeChoice = (): ThemeChoice => useSyncExternalStore(subscribe, () => choice)

/** The effective theme, for maps, which cannot use CSS colours. */
export const useTheme = (): 'light' | 'dark' =>
  useSyncExternalStore(subscribe, () => (choice === 'auto' ? (system.matches ? 'dark' : 'light') : choice))
