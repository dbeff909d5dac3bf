/** The popup of a feature: its name, a few properties, and perhaps a link to its row. Text only, never markup. */
import type { PopupFields } from '@graticule/map/recipe'
import { formatNumber } from '../../format.ts'
import classes from './feature-popup.module.css'

type Properties = Readonly<Record<string, unknown>>

export interface FeatureFacts {
  title: string
  facts: [name: string, value: string][]
}

/** What has no value is left out. `fallback` is the heading of a feature without a name. */
export function featureFacts(properties: Properties, { title, fields }: PopupFields, fallback: string): FeatureFacts {
  const name = title === null ? undefined : properties[title]
  return {
    title: name === null || name === undefined || name === '' ? fallback : shown(name),
    facts: fields.flatMap((chosen) => {
      const field = typeof chosen === 'string' ? chosen : chosen.name
      const value = properties[field]
      return value === null || value === undefined || value === '' ? [] : [[field, shown(value)]]
    }),
  }
}

function shown(value: unknown): string {
  if (typeof value === 'number') return formatNumber(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

export interface PopupParts extends FeatureFacts {
  /** Of the dataset, where the title is not that. */
  source?: string
  link?: { text: string; href: string; onOpen(): void }
}

export function popupElement({ title, facts, source, link }: PopupParts): HTMLElement {
  const root = document.createElement('div')
  root.className = classes.popup ?? ''
  const heading = document.createElement('strong')
  heading.textContent = title
  root.append(heading)
  if (source !== undefined && source !== title) {
    const from = document.createElement('p')
    from.textContent = source
    root.append(from)
  }
  const list = document.createElement('dl')
  for (const [name, value] of facts) {
    const term = document.createElement('dt')
    term.textContent = name
    const text = document.createElement('dd')
    text.textContent = value
    list.append(term, text)
  }
  if (facts.length > 0) root.append(list)
  if (link) root.append(linkNode(link))
  return root
}

function linkNode(link: NonNullable<PopupParts['link']>): HTMLElement {
  const open = document.createElement('a')
  open.textContent = link.text
  open.href = link.href
  open.addEventListener('click', (event) => {
    // Navigates in the router: loading the page again would lose the session.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    link.onOpen()
  })
  return open
}
