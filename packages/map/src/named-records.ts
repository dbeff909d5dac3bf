/** Finds datasets and styles by name: as it is written, or as a slug, such as `world-cities` for "World cities". */
import type { MapClient } from './map-client.ts'

type Kind = 'dataset' | 'style'
type NamedRecord = { readonly id: string; readonly name: string }

/** The id of the record. Names that two records have are refused. */
export async function idOfName(client: MapClient, kind: Kind, name: string, apiKey?: string): Promise<string> {
  const list = kind === 'dataset' ? client.datasets.list : client.styles.list
  const request = { limit: 20, ...(apiKey && { apiKey }) }
  const exact = await list({ ...request, filter: { name } })
  const found = exact.length > 0 ? exact : await bySlug(name, (filter) => list({ ...request, filter }))
  const [only, another] = found
  if (!only) throw new Error(`${capital(kind)} "${name}" does not exist, or the key may not read it.`)
  if (another)
    throw new Error(`${found.length} ${kind}s are called "${name}". Use the id: ${only.id} or ${another.id}.`)
  return only.id
}

async function bySlug(
  slug: string,
  list: (filter: Record<string, unknown>) => Promise<readonly NamedRecord[]>,
): Promise<readonly NamedRecord[]> {
  const wanted = slugOf(slug)
  if (wanted === '') return []
  const near = await list({ name: { $iLike: `%${wanted.split('-').join('%')}%` } })
  return near.filter(({ name }) => slugOf(name) === wanted)
}

const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
