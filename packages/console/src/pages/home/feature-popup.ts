/** The popup of a feature: its name, a few properties, and a link to its row. Text only, never markup. */
import { formatNumber } from '../../format.ts'

const maxFacts = 6
const nameLike = /^(name|title|label|bezeichnung|nom|nombre)$/i

type Properties = Readonly<Record<string, unknown>>

export interface FeatureFacts {
  title: string
  facts: [name: string, value: string][]
}

export function featureFacts(properties: Properties, fallback: string): FeatureFacts {
  const entries = Object.entries(properties).filter(([, value]) => value !== null && value !== undefined)
  const named = entries.find(([name, value]) => nameLike.test(name) && typeof value === 'string')
  return {
    title: named ? String(named[1]) : fallback,
    facts: entries
      .filter((entry) => entry !== named)
      .slice(0, maxFacts)
      .map(([name, value]) => [name, shown(value)]),
  }
}

function shown(value: unknown): string {
  if (typeof value === 'number') return formatNumber(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

export interface PopupParts extends FeatureFacts {
  /** Of the dataset. */
  source: string
  className: string
  link: { text: string; href: string; onOpen(): void }
}

export function popupElement({ title, facts, source, className, link }: PopupParts): HTMLElement {
  const root = document.createElement('div')
  root.className = className
  const heading = document.createElement('strong')
  heading.textContent = title
  const from = document.createElement('p')
  from.textContent = source
  const list = document.createElement('dl')
  for (const [name, value] of facts) {
    const term = document.createElement('dt')
    term.textContent = name
    const text = document.createElement('dd')
    text.textContent = value
    list.append(term, text)
  }
  const open = document.createElement('a')
  open.textContent = link.text
  open.href = link.href
  open.addEventListener('click', (event) => {
    // Navigates in the router: loading the page again would lose the session.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    link.onOpen()
  })
  root.append(heading, from, list, open)
  return root
}
