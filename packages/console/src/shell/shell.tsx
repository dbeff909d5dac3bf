/** The application shell: navigation rail (on phones a bottom bar), command palette, shortcuts. */
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { lazy, type ReactElement, Suspense, useState } from 'react'
import { serverAddress } from '../address.ts'
import { Icon } from '../components/icon.tsx'
import type { IconName } from '../components/icons.ts'
import { useIsTablet } from '../media.ts'
import { SessionProvider } from '../session/session.tsx'
import { SignInPage } from '../session/sign-in-page.tsx'
import { Uploads } from '../uploads/uploads.tsx'
import { AccountMenu } from './account-menu.tsx'
import { ApplicationSwitcher } from './application-switcher.tsx'
import { Logo } from './logo.tsx'
import { type Destination, mainPages } from './navigation.ts'
import { OfflineBar } from './offline-bar.tsx'
import classes from './shell.module.css'
import { ShortcutHelp } from './shortcut-help.tsx'
import { useShellShortcuts } from './shortcuts.ts'
import { useOtherPages } from './use-other-pages.ts'

const Palette = lazy(() => import('./palette.tsx').then(({ Palette }) => ({ default: Palette })))
const MoreSheet = lazy(() => import('./more-sheet.tsx').then(({ MoreSheet }) => ({ default: MoreSheet })))

export function Shell(): ReactElement {
  return (
    <SessionProvider signIn={<SignInPage />}>
      <Frame />
    </SessionProvider>
  )
}

type Overlay = 'palette' | 'help' | 'more' | null

function Frame(): ReactElement {
  const isTablet = useIsTablet()
  const [wanted, setWanted] = useState<boolean | null>(null)
  const isNarrow = wanted ?? isTablet
  const [overlay, setOverlay] = useState<Overlay>(null)
  useShellShortcuts({
    onPalette: () => setOverlay('palette'),
    onHelp: () => setOverlay('help'),
    onRail: () => setWanted(!isNarrow),
  })
  const close = () => setOverlay(null)
  return (
    <div className={`${classes.shell} ${isNarrow ? classes.narrow : ''}`}>
      <a href="#main" className={classes.skip}>
        Skip to the content
      </a>
      <Rail isNarrow={isNarrow} onSearch={() => setOverlay('palette')} />
      <main id="main" tabIndex={-1} className={classes.main}>
        <OfflineBar />
        <Outlet />
      </main>
      <nav aria-label="Pages" className={classes.bottom}>
        {mainPages
          .filter(({ to }) => to !== '/access/keys')
          .map((page) => (
            <RailLink key={page.to} {...page} />
          ))}
        <RailButton icon="more" label="More" onClick={() => setOverlay('more')} />
      </nav>
      <Uploads />
      <Suspense>
        {overlay === 'palette' && <Palette onClose={close} />}
        {overlay === 'more' && <MoreSheet onClose={close} />}
      </Suspense>
      <ShortcutHelp isOpen={overlay === 'help'} onClose={close} />
    </div>
  )
}

interface RailProps {
  isNarrow: boolean
  onSearch(): void
}

function Rail({ isNarrow, onSearch }: RailProps): ReactElement {
  return (
    <nav aria-label="Main" className={classes.rail}>
      <Link to="/" className={classes.name} aria-label="Graticule, home">
        <Logo />
        <span className={classes.label}>Graticule</span>
      </Link>
      {!isNarrow && <ApplicationSwitcher />}
      <RailButton icon="search" label="Search" onClick={onSearch} />
      {mainPages.map((page) => (
        <RailLink key={page.to} {...page} />
      ))}
      <div className={classes.rule} />
      {useOtherPages().map((page) => (
        <RailLink key={page.to} {...page} />
      ))}
      <a href={serverAddress('api/docs')} className={classes.link} target="_blank" rel="noreferrer">
        <Icon name="book" />
        <span className={classes.label}>API docs</span>
      </a>
      <div className={classes.spring} />
      <AccountMenu />
    </nav>
  )
}

function RailLink({ to, label, icon, under }: Destination): ReactElement {
  const isUnder = useLocation({ select: ({ pathname }) => under !== undefined && pathname.includes(under) })
  return (
    <Link
      to={to}
      title={label}
      className={classes.link}
      {...(isUnder && { 'aria-current': 'page' })}
      activeOptions={{ exact: to === '/', includeSearch: false }}
      activeProps={{ 'aria-current': 'page' }}
    >
      <Icon name={icon} />
      <span className={classes.label}>{label}</span>
    </Link>
  )
}

interface RailButtonProps {
  icon: IconName
  label: string
  onClick(): void
}

function RailButton({ icon, label, onClick }: RailButtonProps): ReactElement {
  return (
    <button type="button" title={label} className={classes.link} onClick={onClick}>
      <Icon name={icon} />
      <span className={classes.label}>{label}</span>
    </button>
  )
}
