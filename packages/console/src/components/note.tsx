/** Small status components: notes, empty states, skeletons, status dots, tags, keyboard keys. */
import type { CSSProperties, ReactElement, ReactNode } from 'react'
import { Icon } from './icon.tsx'
import type { IconName } from './icons.ts'
import classes from './note.module.css'

const noteIcons = { info: 'info', warn: 'warning', danger: 'error', ok: 'ok' } satisfies Record<string, IconName>

interface NoteProps {
  kind?: keyof typeof noteIcons
  children: ReactNode
}

export function Note({ kind = 'info', children }: NoteProps): ReactElement {
  return (
    <div className={`${classes.note} ${classes[kind] ?? ''}`}>
      <Icon name={noteIcons[kind]} />
      <div>{children}</div>
    </div>
  )
}

export interface EmptyProps {
  /** Says what is missing. */
  title: string
  children?: ReactNode
  /** One button. */
  action?: ReactNode
}

export function Empty({ title, children, action }: EmptyProps): ReactElement {
  return (
    <div className={classes.empty}>
      <h2>{title}</h2>
      {children}
      {action}
    </div>
  )
}

/** A placeholder for loading content, visible only after 150 ms. */
export function Skeleton({ width = '100%', height = 16 }: Pick<CSSProperties, 'width' | 'height'>): ReactElement {
  return <span aria-hidden="true" className={classes.skeleton} style={{ width, height }} />
}

const dots = { ok: classes.dotOk, warn: classes.dotWarn, danger: classes.dotDanger, off: '' }

interface StatusDotProps {
  kind: keyof typeof dots
  children: ReactNode
}

export function StatusDot({ kind, children }: StatusDotProps): ReactElement {
  return <span className={`${classes.dot} ${dots[kind]}`}>{children}</span>
}

interface TagProps {
  children: ReactNode
}

export function Tag({ children }: TagProps): ReactElement {
  return <span className={classes.tag}>{children}</span>
}

interface KbdProps {
  children: ReactNode
}

export function Kbd({ children }: KbdProps): ReactElement {
  return <kbd className={classes.kbd}>{children}</kbd>
}
