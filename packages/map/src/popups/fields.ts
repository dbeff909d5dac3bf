/// <reference lib="dom" />
/** The content of popups and tooltips by declaration: a title and chosen fields, each in a format. */

import type { Properties } from '../selection.ts'
import type { PopupContext } from './popups.ts'

export type FieldFormat = 'number' | 'date' | 'datetime' | 'text' | 'link'

export interface Field<Row extends object = Properties> {
  /** The property. */
  name: keyof Row & string
  /** @defaultValue the property's name */
  label?: string
  /** @defaultValue by the value: dates as dates, numbers with groups of digits, addresses as links */
  format?: FieldFormat | ((value: unknown) => string)
  /** Written behind the value, such as `km²`. */
  unit?: string
  /** How many decimals numbers have at most. */
  digits?: number
}

export interface FieldsContent<Row extends object = Properties> {
  /** A property, or a text with properties in braces: `{name} ({country})`. */
  title?: string
  /** @defaultValue all properties, or none where there is a title */
  fields?: readonly ((keyof Row & string) | Field<Row>)[]
  /** Of numbers and dates. @defaultValue the reader's */
  locale?: string
}

/** An element that shows the feature as declared. */
export function contentOf({ title, fields, locale }: FieldsContent, { feature }: Pick<PopupContext, 'feature'>): Node {
  const { properties } = feature
  const box = document.createElement('div')
  box.className = 'graticule-fields'
  if (title !== undefined) {
    const heading = box.appendChild(document.createElement('strong'))
    heading.textContent = titleOf(title, properties)
  }
  const shown = fields ?? (title === undefined ? Object.keys(properties) : [])
  if (shown.length === 0) return box
  const table = box.appendChild(document.createElement('table'))
  for (const one of shown) {
    const field = typeof one === 'string' ? { name: one } : one
    const row = table.insertRow()
    const heading = row.appendChild(document.createElement('th'))
    Object.assign(heading.style, { textAlign: 'left', fontWeight: 'normal', opacity: '0.7', paddingRight: '0.8em' })
    heading.textContent = field.label ?? field.name
    row.insertCell().append(valueNode(properties[field.name], field, locale))
  }
  return box
}

const titleOf = (title: string, properties: Properties): string =>
  title.includes('{')
    ? title.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => String(properties[name] ?? ''))
    : String(properties[title] ?? '')

function valueNode(value: unknown, field: Field, locale: string | undefined): Node | string {
  const address = field.format === undefined || field.format === 'link' ? webAddress(value) : undefined
  if (!address) return textOf(value, field, locale)
  const link = document.createElement('a')
  Object.assign(link, { href: address.href, textContent: String(value), target: '_blank', rel: 'noopener noreferrer' })
  return link
}

/** Only of the web: a value could be a script. */
function webAddress(value: unknown): URL | undefined {
  if (typeof value !== 'string' || !/^https?:\/\//i.test(value) || !URL.canParse(value)) return undefined
  return new URL(value)
}

function textOf(value: unknown, field: Field, locale: string | undefined): string {
  if (typeof field.format === 'function') return field.format(value)
  if (value === null || value === undefined || value === '') return '–'
  const text = formatted(value, field, locale)
  return field.unit ? `${text} ${field.unit}` : text
}

const isoDate = /^\d{4}-\d{2}-\d{2}$/
const isoTime = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/

function formatted(value: unknown, { name, format, digits }: Field, locale: string | undefined): string {
  if (format === 'text') return asText(value)
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (format === 'number' || (format === undefined && typeof value === 'number')) {
    const useGrouping = !isYear(name, value)
    const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: digits ?? 3, useGrouping })
    // Intl formats decimal strings exactly.
    return numbers.format(value as number)
  }
  const text = asText(value)
  const isDay = isoDate.test(text)
  const isInstant = isoTime.test(text)
  if (format === 'date' || (format === undefined && isDay))
    return dateText(text, locale, { dateStyle: 'medium' }, isDay)
  if (format === 'datetime' || (format === undefined && isInstant))
    return dateText(text, locale, { dateStyle: 'medium', timeStyle: 'short' }, false)
  return text
}

/** A day is the same everywhere; a time is the reader's. */
function dateText(text: string, locale: string | undefined, style: Intl.DateTimeFormatOptions, isDay: boolean): string {
  const at = Date.parse(text)
  if (Number.isNaN(at)) return text
  return new Intl.DateTimeFormat(locale, { ...style, ...(isDay && { timeZone: 'UTC' }) }).format(at)
}

const isYear = (name: string, value: unknown): boolean =>
  /year|jahr|ann[ée]e|año/i.test(name) && Number.isInteger(value) && Math.abs(Number(value)) < 10_000

const asText = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value))
