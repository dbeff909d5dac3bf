/**
 * Declarative settings of drivers and types, and their conversion between form controls and the API's JSON. Secrets are
 * write-only: an empty one is omitted, which keeps its value; a removed one is null.
 */
export interface SettingField {
  name: string
  label: string
  /** `lines`: a list, one per line; `pairs`: an object, `name: value` per line. */
  kind: 'text' | 'area' | 'number' | 'switch' | 'choice' | 'lines' | 'pairs'
  hint?: string
  placeholder?: string
  isRequired?: boolean
  /** Write-only. */
  isSecret?: boolean
  options?: readonly string[]
  /** Makes a value for a secret that is free to choose. */
  make?(): string
  /** The value of a switch or choice that is not set. */
  fallback?: string | boolean
}

/** The values of the controls; `null` is a secret to remove. */
export type SettingDraft = Readonly<Record<string, string | boolean | null>>
export type Settings = Record<string, unknown>

/** The controls' values for stored settings. */
export function draftOf(fields: readonly SettingField[], settings: Readonly<Settings>): SettingDraft {
  return Object.fromEntries(fields.map((field) => [field.name, field.isSecret ? '' : textOf(field, settings)]))
}

function textOf({ name, kind, fallback }: SettingField, settings: Readonly<Settings>): string | boolean {
  const value = settings[name] ?? fallback
  if (kind === 'switch') return value === true
  if (value === undefined || value === null) return ''
  if (kind === 'lines' && Array.isArray(value)) return value.join('\n')
  if (kind === 'pairs') {
    return Object.entries(value)
      .map(([key, text]) => `${key}: ${text}`)
      .join('\n')
  }
  return String(value)
}

/** The settings for the controls' values. Empty ones are omitted. */
export function settingsOf(fields: readonly SettingField[], draft: SettingDraft): Settings {
  const settings: Settings = {}
  for (const field of fields) {
    const value = jsonOf(field, draft[field.name] ?? '')
    if (value !== undefined) settings[field.name] = value
    else if (draft[field.name] === null) settings[field.name] = null
  }
  return settings
}

function jsonOf({ kind, fallback }: SettingField, held: string | boolean): unknown {
  if (typeof held === 'boolean') return held === (fallback ?? false) ? undefined : held
  const text = kind === 'area' ? held : held.trim()
  if (text === '') return undefined
  if (kind === 'number') return Number(text)
  if (kind === 'lines') return linesOf(text)
  if (kind === 'pairs') return Object.fromEntries(linesOf(text).map(pairOf))
  return text
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

function pairOf(line: string): [string, string] {
  const colon = line.indexOf(':')
  return colon < 0 ? [line, ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
}
