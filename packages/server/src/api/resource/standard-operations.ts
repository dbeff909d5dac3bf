import type { Operation } from '../http/operation.ts'
import { type CrudOptions, crudOperations } from './crud.ts'
import { type MetadataWriter, metadataOperations } from './documents/metadata.ts'
import type { BaseServices, Resource } from './resource.ts'

type StandardOptions<S extends BaseServices> = CrudOptions<S> & { readonly metadata?: MetadataWriter<S> }

/** The standard operations of a resource: CRUD and metadata. */
export const standardOperations = <S extends BaseServices>(
  resource: Resource<S>,
  options: StandardOptions<S> = {},
): Operation<S>[] => [...crudOperations(resource, options), ...metadataOperations(resource, options.metadata)]
