import type { Entity } from '../../api/resource/resource.ts'
import type { Queryable } from '../../kernel/db/db.ts'
import { ApiError } from '../../kernel/errors.ts'
import { limits, overLimit } from '../../kernel/limits/limits.ts'
import type { Binding } from './binding.ts'
import {
  addBinding,
  changeBinding,
  countBindings,
  lockBindings,
  lockCount,
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
  { id, applicationId }: Entity,
  wanted: readonly NewBinding[],
): Promise<void> {
  const contactPointId = String(id)
  await lockCount(tx, String(applicationId))
  const datasets = await lockDatasets(
    tx,
    wanted.map(({ binding }) => binding.datasetId),
  )
  if (!(await lockBindings(tx, contactPointId)))
    throw new ApiError('not_found', 'There is no ContactPoint with this id.')
  const stored = new Map((await readBindings(tx, contactPointId)).map((one) => [one.datasetId, one.id]))
  for (const { binding, start } of wanted) {
    const known = stored.get(binding.datasetId)
    stored.delete(binding.datasetId)
    if (!start && known !== undefined) continue
    if (!start || !datasets.has(binding.datasetId)) throw changedMeanwhile()
    if (known === undefined) await addBinding(tx, contactPointId, binding, start)
    else await changeBinding(tx, known, binding)
  }
  await removeBindings(tx, [...stored.values()])
  await demandFew(tx, String(applicationId))
}

const most = limits.bindings.value

async function demandFew(tx: Queryable, applicationId: string): Promise<void> {
  if ((await countBindings(tx, applicationId)) <= most) return
  throw overLimit(
    'bindings',
    most,
    `The contact points of an application have ${most} bindings at most. Remove others first.`,
  )
}

const changedMeanwhile = (): ApiError =>
  new ApiError('conflict', 'Somebody else has changed the bindings or deleted a dataset meanwhile. Try again.')
