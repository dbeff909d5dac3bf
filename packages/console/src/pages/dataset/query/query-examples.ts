/** Example queries with the dataset's attributes. */
import type { DatasetQuery } from '@graticule/client'
import { isNumeric } from '@graticule/map/recipe'
import type { DatasetAttribute } from '../dataset.ts'

export interface QueryExample {
  label: string
  query: DatasetQuery
}

export function queryExamples(attributes: readonly DatasetAttribute[]): QueryExample[] {
  const number = attributes.find(({ type, primaryKey }) => isNumeric(type) && !primaryKey)?.name
  const text = attributes.filter(({ type, primaryKey }) => type === 'string' && !primaryKey).map(({ name }) => name)
  const geometry = attributes.find(({ type }) => type === 'geometry')?.name
  const group = text.at(-1)
  return [
    { label: 'All rows', query: { where: {} } },
    { label: 'How many rows', query: { attributes: ['count(*) as rows'] } },
    number
      ? { label: `Largest ${number} first`, query: { where: { [number]: { $gte: 0 } }, order: [`-${number}`] } }
      : [],
    text[0] ? { label: `${text[0]} contains a text`, query: { where: { [text[0]]: { $iLike: '%a%' } } } } : [],
    group
      ? {
          label: `Count by ${group}`,
          query: { attributes: [group, 'count(*) as rows'], group: [group], order: ['-rows'] },
        }
      : [],
    geometry ? { label: 'Within a box', query: { where: { [geometry]: { $bbox: [5, 45, 15, 55] } } } } : [],
    geometry
      ? {
          label: 'Nearest to a point',
          query: {
            where: { [geometry]: { $dwithin: { point: [8.54, 47.37], distance: 200_000 } } },
            nearest: { point: [8.54, 47.37] } as DatasetQuery['nearest'] & object,
          },
        }
      : [],
    { label: 'A sample', query: { sample: { percentage: 1, method: 'bernoulli', seed: 1 } } },
  ].flat()
}
