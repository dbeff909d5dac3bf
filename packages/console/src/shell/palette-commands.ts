/** The commands of the palette: pages and global actions. */
import type { UseNavigateResult } from '@tanstack/react-router'
import { serverAddress } from '../address.ts'
import type { IconName } from '../components/icons.ts'
import { signOut } from '../session/session-store.ts'
import { chooseTheme } from '../theme.ts'
import { mainPages } from './navigation.ts'
import { useOtherPages } from './use-other-pages.ts'

export interface Command {
  id: string
  label: string
  icon: IconName
  keys?: readonly string[]
  run(): void
}

export type Navigate = UseNavigateResult<string>

/** Ids of pages and actions, most recently used first. Without records, whose names belong to the tenant. */
const storageName = 'graticule.palette'
const remembered = 8

export function noteUse(id: string): void {
  if (id.includes('/record/')) return
  localStorage.setItem(
    storageName,
    JSON.stringify([id, ...used().filter((other) => other !== id)].slice(0, remembered)),
  )
}

function used(): string[] {
  try {
    return JSON.parse(localStorage.getItem(storageName) ?? '[]')
  } catch {
    return []
  }
}

/** The commands whose label contains every word, most recently used first. */
export function matching(commands: readonly Command[], text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const order = used()
  const rank = ({ id }: Command) => (order.includes(id) ? order.indexOf(id) : remembered)
  return commands
    .filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)))
    .sort((one, other) => rank(one) - rank(other))
}

export function usePaletteCommands(navigate: Navigate): { pages: Command[]; actions: Command[] } {
  const pages = [...mainPages, ...useOtherPages()].map(({ to, label, icon, letter }) => ({
    id: `page${to}`,
    label,
    icon,
    ...(letter ? { keys: ['g', letter] } : {}),
    run: () => void navigate({ to }),
  }))
  const action = (id: string, label: string, icon: IconName, run: () => void, keys?: string[]): Command => ({
    id: `action/${id}`,
    label,
    icon,
    run,
    ...(keys ? { keys } : {}),
  })
  const actions = [
    action(
      'upload',
      'Upload a file',
      'upload',
      () => void navigate({ to: '/data', search: { add: 'file' } as never }),
      ['u'],
    ),
    action(
      'table',
      'Make a table',
      'table',
      () => void navigate({ to: '/data', search: { add: 'new-table' } as never }),
    ),
    action('key', 'Make an API key', 'access', () => void navigate({ to: '/access/keys' })),
    action('map', 'Make a map', 'maps', () => void navigate({ to: '/maps' })),
    action('database', 'Connect a database', 'database', () => void navigate({ to: '/databases/{-$databaseId}' })),
    action('light', 'Use the light theme', 'sun', () => chooseTheme('light')),
    action('dark', 'Use the dark theme', 'moon', () => chooseTheme('dark')),
    action('auto', 'Use the system’s theme', 'auto', () => chooseTheme('auto')),
    action(
      'docs',
      'Open the API documentation',
      'book',
      () => void open(serverAddress('api/docs'), '_blank', 'noreferrer'),
    ),
    action('sign-out', 'Sign out', 'signOut', signOut),
  ]
  return { pages, actions }
}
