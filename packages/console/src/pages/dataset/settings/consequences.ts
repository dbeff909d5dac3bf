/** Sentences on the consequences of deleting a dataset. */
import type { Dataset } from '@graticule/client'

const mostNamed = 5

export function consequencesOf(
  { type }: Pick<Dataset, 'type'>,
  tileSources: number,
  styles: readonly string[],
): string[] {
  const named = styles.slice(0, mostNamed).join(', ') + (styles.length > mostNamed ? ' …' : '')
  const one = styles.length === 1
  return [
    'This cannot be undone.',
    tileSources > 0 &&
      `${tileSources === 1 ? '1 tile source' : `${tileSources} tile sources`} of it will have nothing to show; those of an uploaded dataset are deleted with it.`,
    styles.length > 0 && `${one ? '1 style shows' : `${styles.length} styles show`} it: ${named}.`,
    type === 'table' && 'If an upload made its table, the table is deleted with all its rows. Other tables stay.',
  ].filter((sentence) => typeof sentence === 'string')
}
