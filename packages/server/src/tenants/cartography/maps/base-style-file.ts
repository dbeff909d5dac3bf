/** Cache of base styles as JSON, each made on first use, because the generator is large and many servers never need it. */
export function createBaseStyleReader(): (theme: string) => Promise<Buffer | undefined> {
  const made = new Map<string, Promise<Buffer | undefined>>()
  return async (theme) => {
    if (theme !== 'light' && theme !== 'dark') return undefined
    const known = made.get(theme) ?? make(theme)
    made.set(theme, known)
    return known
  }
}

async function make(theme: 'light' | 'dark'): Promise<Buffer | undefined> {
  const { baseStyles } = await import('./base-styles.ts')
  const found = baseStyles().find(({ key }) => key === theme)
  return found && Buffer.from(JSON.stringify(found.style))
}
