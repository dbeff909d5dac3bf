/** The layout of a page: one line with title, facts and at most one primary button, perhaps tabs, and the content. */
import { Link } from '@tanstack/react-router'
import { type ReactElement, type ReactNode, useEffect } from 'react'
import { Icon } from './icon.tsx'
import classes from './page.module.css'

export interface PageProps {
  title: string
  /** A sentence, or parts separated by " · ". */
  facts?: ReactNode
  actions?: ReactNode
  /** The list that this page belongs to. */
  back?: { to: string; label: string }
  tabs?: ReactNode
  /** Whether the content has a margin; a map or a table has none. */
  isPadded?: boolean
  children: ReactNode
}

export function Page({ title, facts, actions, back, tabs, isPadded = true, children }: PageProps): ReactElement {
  useEffect(() => {
    document.title = `${title} · Graticule`
  }, [title])
  return (
    <div className={classes.page}>
      <header className={classes.head}>
        {back && (
          <Link to={back.to} aria-label={back.label} className={classes.back}>
            <Icon name="chevronLeft" size={20} />
          </Link>
        )}
        <h1>{title}</h1>
        <div className={classes.facts}>{facts}</div>
        {actions && <div className={classes.actions}>{actions}</div>}
      </header>
      {tabs}
      <div className={`${classes.body} ${isPadded ? classes.padded : ''}`}>{children}</div>
    </div>
  )
}

interface LinkTabsProps {
  label: string
  tabs: readonly { to: string; label: string }[]
  search?: object
}

/** Tabs of one record, each with its own URL. `search` has the query parameters that all of them keep. */
export function LinkTabs({ label, tabs, search = {} }: LinkTabsProps): ReactElement {
  return (
    <nav aria-label={label} className={classes.tabs}>
      {tabs.map((tab) => (
        <Link
          key={tab.to}
          to={tab.to}
          search={search}
          activeOptions={{ includeSearch: false }}
          activeProps={{ 'aria-current': 'page' }}
        >
          {tab.label}
        </Link>
      ))}
    </nav>
  )
}

/** A master-detail layout: the list on the left, the selected record on the right; on phones one of them at a time. */
export interface ColumnsProps {
  list: ReactNode
  record: ReactNode | null
  /** Shown while no record is selected. */
  hint?: string
}

export function Columns({ list, record, hint }: ColumnsProps): ReactElement {
  return (
    <div className={classes.columns} data-shows={record ? 'record' : 'list'}>
      <div>{list}</div>
      <div>{record ?? <p className={classes.hint}>{hint}</p>}</div>
    </div>
  )
}

/**
 * Classes for lists and forms: `layout.list` (table), `layout.scroll`, `layout.form`, `layout.section`, `layout.row`,
 * `layout.definitions` (names and values, a `<dl>`).
 */
export const layout = {
  list: classes.list,
  scroll: classes.scroll,
  form: classes.form,
  section: classes.section,
  row: classes.row,
  definitions: classes.definitions,
  padded: classes.padded,
}
