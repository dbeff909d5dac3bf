/** The search parameters of the dataset list, and their conversion to API parameters. */
import type { DatasetsListParams } from '@graticule/client'

export const datasetTypes = ['table', 'sql', 'rest', 'lambda'] as const
export type DatasetType = (typeof datasetTypes)[number]

const addable = ['file', 'new-table', ...datasetTypes] as const
export type Addable = (typeof addable)[number]

export const sortable = ['name', 'type', 'rowEstimate', 'bytes', 'updatedAt'] as const
export type DataSortField = (typeof sortable)[number]

export interface DataSearch {
  /** Searched in name, description and tags. */
  q?: string | undefined
  type?: DatasetType | undefined
  tag?: string | undefined
  /** A field, prefixed with `-` for descending order. */
  sort?: DataSortField | `-${DataSortField}` | undefined
  /** Opens the dialog that adds data. */
  add?: Addable | undefined
}

/** Parses the search parameters; invalid ones are ignored. */
export function readDataSearch(search: Record<string, unknown>): DataSearch {
  const text = (name: string) => (search[name] === undefined || search[name] === '' ? undefined : String(search[name]))
  const sort = text('sort')
  const read = {
    q: text('q'),
    type: datasetTypes.find((type) => type === text('type')),
    tag: text('tag'),
    sort: sortable.some((name) => name === sort?.replace('-', '')) ? sort : undefined,
    add: addable.find((one) => one === text('add')),
  }
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined))
}

export const defaultSort = '-updatedAt'

export function listParams({ q, type, tag, sort = defaultSort }: DataSearch): DatasetsListParams {
  const words = q?.trim()
  const like = words && `%${words.replaceAll(/[\\%_]/g, '\\$&')}%`
  const filter = {
    ...(type && { type }),
    ...(like && {
      $or: [
        { name: { $iLike: like } },
        { description: { $iLike: like } },
        { metadata: { $contains: { tags: [words] } } },
      ],
    }),
  }
  return {
    ...(Object.keys(filter).length > 0 && { filter }),
    ...(tag && { tags: [tag] }),
    // The id breaks ties, so that pages do not overlap.
    sort: [sort, 'id'],
  }
}
