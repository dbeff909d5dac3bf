/** The values of a configuration by dotted key, as in the API. */
export interface DottedKey {
  key: string
  value: unknown
}

/** Descends into objects; everything else is a value. Keys that contain a dot cannot be addressed and are omitted. */
export function dottedKeys(config: Readonly<Record<string, unknown>>, before: string = ''): DottedKey[] {
  return Object.entries(config).flatMap(([name, value]) => {
    if (name === '' || name.includes('.')) return []
    const key = before + name
    const isWalked =
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
    return isWalked ? dottedKeys(value as Record<string, unknown>, `${key}.`) : [{ key, value }]
  })
}

/** The entries whose key or value contains every word. */
export function matchingKeys(keys: readonly DottedKey[], search: string): DottedKey[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return keys.filter(({ key, value }) => {
    const text = `${key} ${JSON.stringify(value)}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** Parses a configuration. */
export function readConfiguration(text: string): { config?: Record<string, unknown>; fault?: string } {
  let config: unknown
  try {
    config = JSON.parse(text)
  } catch (error) {
    return { fault: `This is not JSON: ${(error as Error).message}.` }
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    return { fault: 'The configuration must be an object such as {"theme": {"colour": "#2a6"}}.' }
  }
  if ('svc' in config)
    return { fault: 'The key “svc” is reserved for what the server says of itself. Use another name.' }
  return { config: config as Record<string, unknown> }
}
