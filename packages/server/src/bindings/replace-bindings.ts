import type { Queryable } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import type { Binding } from './binding.ts'
import {
  addBinding,
  changeBinding,
  lockBindings,
  lockDatasets,
  readBindings,
  removeBindings,
  type Start,
} from './binding-rows.ts'

/** Without a start it is stored already, as it is. */
export type NewBinding = { readonly binding: Binding; readonly start?: Start }

/** Makes these the bindings of the contact point. */
export async function replaceBindings(
  tx: Queryable,
  contactPointId: string,
  wanted: readonly NewBinding[],
): Promise<void> {
  const datasets = await lockDatasets(
    tx,
    wanted.map(({ binding }) => binding.datasetId),
  )
  if (!(await lockBindings(tx, contactPointId)))
    throw new ApiError('not_found', 'There is no ContactPoint with this id.')
  const stored = new Map((await readBindings(tx, contactPointId)).map((one) => [one.datasetId, one.id]))
  for (const { binding, start } of wanted) {
    const id = stored.get(binding.datasetId)
    stored.delete(binding.datasetId)
    if (!start && id !== undefined) continue
    if (!start || !datasets.has(binding.datasetId)) throw changedMeanwhile()
    if (id === undefined) await addBinding(tx, contactPointId, binding, start)
    else await changeBinding(tx, id, binding)
  }
  await removeBindings(tx, [...stored.values()])
}

const changedMeanwhile = (): ApiError =>
  new ApiError('conflict', 'Somebody else has changed the bindings or deleted a dataset meanwhile. Try again.')
