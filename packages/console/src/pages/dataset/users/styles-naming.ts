import type { Style } from '@graticule/client'

export type UsingStyle = Pick<Style, 'id' | 'name' | 'style'>

/** The styles that name an attribute: in their layers, in what the editor keeps of them, or as `sum(height)` of cells. */
export function stylesNaming(styles: readonly UsingStyle[], attribute: string): UsingStyle[] {
  const ways = [JSON.stringify(attribute), `(${attribute})`]
  return styles.filter(({ style }) => ways.some((way) => JSON.stringify(style).includes(way)))
}
