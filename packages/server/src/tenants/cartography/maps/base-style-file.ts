/** Cache of base styles as JSON, each made on first use, because the generator is large and many servers never need it. */
export function createBaseStyleReader(): (theme: string) => Promise<Buffer | undefined> {
  const made = new Map<string, Promise<Buffer | undefined>>()
  return async (theme) => {
    if (theme !== 'light' && theme !== 'dark') return undefined
    const style = made.get(theme) ?? make(theme)
    made.set(theme, style)
    return style
  }
}

async function make(theme: 'light' | 'dark'): Promise<Buffer | undefined> {
  const { baseStyles } = await import('./base-styles.ts')
  const style = baseStyles().find(({ key }) => key === theme)
  return style && Buffer.from(JSON.stringify(style.style))
}
