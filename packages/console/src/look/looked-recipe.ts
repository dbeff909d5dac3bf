/** A layer of a map with the look of a dataset: its colours, sizes, and what a click tells. */
import type { Client, Dataset } from '@graticule/client'
import { colourKinds, defaultCategories, defaultGraduated, type LayerRecipe, type Theme } from '@graticule/map/recipe'
import type { QueryClient } from '@tanstack/react-query'
import { type AttributeValues, valuesQuery } from '../pages/maps/styles-query.ts'
import { chosenLook } from './look-store.ts'
import { popupFields } from './popup-fields.ts'
import { lookQuery } from './use-look.ts'

export async function lookedRecipe(
  plain: LayerRecipe,
  dataset: Pick<Dataset, 'id' | 'attributes'>,
  theme: Theme,
  { client, queries }: { client: Client; queries: QueryClient },
): Promise<LayerRecipe> {
  const look = chosenLook(client, dataset.id) ?? (await queries.fetchQuery(lookQuery(client, dataset)))
  const values = (attribute: string) => queries.fetchQuery(valuesQuery(client, dataset.id, attribute))
  const popup = popupFields(dataset.attributes, look)
  const colours = look.colour === null ? null : await values(look.colour)
  const sizes = look.size === null ? null : await values(look.size)
  return {
    ...plain,
    popup,
    ...(colours && { colour: colouringOf(colours, theme, plain.colour) }),
    ...(sizes && { size: { ...plain.size, attribute: look.size, domain: domainOf(sizes) } }),
  }
}

function colouringOf({ statistics, distribution }: AttributeValues, theme: Theme, plain: LayerRecipe['colour']) {
  const [kind] = colourKinds(statistics)
  if (kind === 'graduated') return defaultGraduated(statistics, distribution, theme)
  return statistics.frequent.length > 0 ? defaultCategories(statistics, theme) : plain
}

const domainOf = ({ distribution: { min, max } }: AttributeValues): [number, number] => [min, max]
