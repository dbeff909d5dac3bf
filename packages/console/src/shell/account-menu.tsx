/** The account menu: who is signed in, theme, sign-out. */
import type { ReactElement } from 'react'
import { Icon } from '../components/icon.tsx'
import type { IconName } from '../components/icons.ts'
import { Menu } from '../components/popup/menu.tsx'
import { useSession } from '../session/session.tsx'
import { signOut } from '../session/session-store.ts'
import { chooseTheme, type ThemeChoice, themes, useThemeChoice } from '../theme.ts'
import classes from './shell.module.css'

const themeLabels: Record<ThemeChoice, { label: string; icon: IconName }> = {
  auto: { label: 'Theme: as the system', icon: 'auto' },
  light: { label: 'Theme: light', icon: 'sun' },
  dark: { label: 'Theme: dark', icon: 'moon' },
}

export function AccountMenu(): ReactElement {
  const items = useAccountItems()
  const name = useAccountName()
  return (
    <Menu
      trigger={
        <button type="button" className={classes.link}>
          <Icon name="user" />
          <span className={classes.label}>
            <span className="visually-hidden">Account: </span>
            {name}
          </span>
        </button>
      }
      items={items}
    />
  )
}

export function useAccountName(): string {
  const { access } = useSession()
  return access.user?.email ?? (access.type === 'master' ? 'Master key' : access.description.split(':')[0] || 'API key')
}

export function useAccountItems() {
  const chosen = useThemeChoice()
  return [
    ...themes.map((theme) => ({
      ...themeLabels[theme],
      icon: theme === chosen ? ('check' as const) : themeLabels[theme].icon,
      onSelect: () => chooseTheme(theme),
    })),
    '-' as const,
    { label: 'Sign out', icon: 'signOut' as const, onSelect: signOut },
  ]
}
