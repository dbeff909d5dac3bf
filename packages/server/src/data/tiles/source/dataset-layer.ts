// The vector layer of a dataset.

import { ApiError } from '../../../kernel/errors.ts'
import type { Attribute, Attributes } from '../../../query/values/attribute.ts'
import { attributesOf } from '../../datasets/attribute-dto.ts'
import type { Dataset } from '../../datasets/dataset-record.ts'

/** The geometry column and the attributes that queries may name. */
export type DatasetLayer = {
  readonly dataset: Dataset
  readonly attributes: Attributes
  readonly geometry: Attribute
  /** In lower case; `geometry` if it may be any type. */
  readonly geometryType: string
}

/** Throws a 400 for a dataset without a geometry. */
export function layerOf<T extends Pick<Dataset, 'attributes' | 'metadata' | 'databaseType'>>(
  dataset: T,
): Omit<DatasetLayer, 'dataset'> & { dataset: T } {
  const attributes = attributesOf(dataset)
  const column = dataset.attributes.find(({ type }) => type === 'geometry')
  const geometry = column && attributes.get(column.name)
  if (!geometry) throw new ApiError('invalid_request', 'The dataset has no geometry, so there are no tiles of it.')
  return { dataset, attributes, geometry, geometryType: (column.geometryType ?? 'geometry').toLowerCase() }
}
