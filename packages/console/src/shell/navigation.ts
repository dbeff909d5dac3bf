/** The navigation targets of the rail, the bottom bar, the palette and the shortcuts. */
import type { IconName } from '../components/icons.ts'

export interface Destination {
  to: string
  label: string
  icon: IconName
  /** Pressed after `g`. */
  letter?: string
  /** The path prefix of its other pages, if they are not below `to`. */
  under?: string
}

export const mainPages: readonly Destination[] = [
  { to: '/', label: 'Home', icon: 'home', letter: 'h' },
  { to: '/data', label: 'Data', icon: 'data', letter: 'd' },
  { to: '/maps', label: 'Maps', icon: 'maps', letter: 'm' },
  { to: '/access/keys', label: 'Access', icon: 'access', letter: 'a', under: '/access/' },
  { to: '/agents', label: 'Agents', icon: 'agents', letter: 'g' },
]

export const otherPages: readonly Destination[] = [
  { to: '/sql', label: 'SQL', icon: 'code', letter: 's' },
  { to: '/databases', label: 'Databases', icon: 'database', letter: 'b' },
  { to: '/contact-points', label: 'Contact points', icon: 'send', letter: 'c' },
  { to: '/outbox', label: 'Outbox', icon: 'inbox', letter: 'o' },
  { to: '/activity', label: 'Activity', icon: 'history', letter: 'l' },
  { to: '/usage', label: 'Usage', icon: 'chart', letter: 'u' },
  { to: '/configuration', label: 'Configuration', icon: 'settings' },
]
