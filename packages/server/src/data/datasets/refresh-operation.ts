// Reads the columns of a dataset anew: on request, and when its record is asked for.
import type { Scope } from '../../api/access/acl.ts'
import type { Operation } from '../../api/http/operation.ts'
import type { RecordCache } from '../../api/resource/record-cache.ts'
import type { CachedDataset } from './dataset-cache.ts'

type RefreshServices = { readonly datasetCache: RecordCache<CachedDataset> }

/** The standard operations of datasets, with one that reads the columns anew. */
export function withRefresh<S extends RefreshServices>(operations: readonly Operation<S>[]): Operation<S>[] {
  return operations.flatMap((operation): Operation<S>[] => {
    if (operation.id === 'datasets.get') return [currentRecord(operation)]
    return operation.id === 'datasets.patch' ? [operation, refreshOf(operation)] : [operation]
  })
}

/** What an empty PATCH does, under a name that can be found. */
function refreshOf<S extends RefreshServices>({ body: _, ...patch }: Operation<S>): Operation<S> {
  return {
    ...patch,
    id: 'datasets.refresh',
    method: 'POST',
    path: `${patch.path}/refresh`,
    summary: 'Read the columns of a dataset anew',
    description:
      'After a table, view or query was changed in its database. Of tables in external databases it is noticed within ten seconds of use by itself.',
    handle: (context, input) => patch.handle(context, { ...input, body: {} }),
  }
}

/** The record is read after the columns were looked at. Why there is none is for the operation to say. */
function currentRecord<S extends RefreshServices>(get: Operation<S>): Operation<S> {
  return {
    ...get,
    async handle(context, input) {
      const { id = '' } = input.params as { readonly id?: string }
      const { scope } = context as { readonly scope?: Scope }
      if (scope) await context.services.datasetCache.get(scope, id).catch(() => {})
      return get.handle(context, input)
    },
  }
}
