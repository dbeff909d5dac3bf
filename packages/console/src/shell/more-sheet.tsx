/** A sheet for phones, with the pages that do not fit into the bottom bar, and the account. */
import { useNavigate } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { serverAddress } from '../address.ts'
import { Dialog } from '../components/dialog.tsx'
import { Icon } from '../components/icon.tsx'
import { useAccountItems, useAccountName } from './account-menu.tsx'
import { ApplicationSwitcher } from './application-switcher.tsx'
import { mainPages } from './navigation.ts'
import classes from './shell.module.css'
import { useOtherPages } from './use-other-pages.ts'

interface MoreSheetProps {
  onClose(): void
}

export function MoreSheet({ onClose }: MoreSheetProps): ReactElement {
  const navigate = useNavigate()
  const account = useAccountItems()
  const pages = [...mainPages.filter(({ to }) => to === '/access/keys'), ...useOtherPages()]
  const go = (to: string) => {
    onClose()
    void navigate({ to })
  }
  return (
    <Dialog kind="sheet" title={useAccountName()} isOpen onClose={onClose}>
      <ApplicationSwitcher />
      {pages.map(({ to, label, icon }) => (
        <button key={to} type="button" className={classes.link} onClick={() => go(to)}>
          <Icon name={icon} />
          {label}
        </button>
      ))}
      <a href={serverAddress('api/docs')} className={classes.link} target="_blank" rel="noreferrer">
        <Icon name="book" />
        API docs
      </a>
      <div className={classes.rule} />
      {account.map(
        (item) =>
          item !== '-' && (
            <button key={item.label} type="button" className={classes.link} onClick={item.onSelect}>
              <Icon name={item.icon} />
              {item.label}
            </button>
          ),
      )}
    </Dialog>
  )
}
