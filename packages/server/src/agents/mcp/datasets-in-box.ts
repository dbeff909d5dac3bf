import { ApiError } from '../../kernel/errors.ts'
import type { CallOperation } from './call-operation.ts'
import { conditionsOf, type DatasetSummary, geometryOf, queryRows } from './dataset.ts'

const atOnce = 4
const timeoutMs = 2_000

/** The ids of the datasets that have rows in a box, or for which the query did not finish in time. */
export async function datasetIdsInBox(
  call: CallOperation,
  datasets: readonly DatasetSummary[],
  bbox: number[],
): Promise<Set<string>> {
  const ids = new Set<string>()
  const rest = datasets.filter(geometryOf).values()
  const take = async (): Promise<void> => {
    for (const dataset of rest) if (await hasRows(call, dataset, bbox)) ids.add(dataset.id)
  }
  await Promise.all(Array.from({ length: atOnce }, take))
  return ids
}

async function hasRows(call: CallOperation, dataset: DatasetSummary, bbox: number[]): Promise<boolean> {
  const query = {
    attributes: [geometryOf(dataset)?.name ?? ''],
    where: conditionsOf(dataset, { bbox }).where,
    limit: 1,
  }
  try {
    return (await queryRows(call, dataset.id, query, { timeoutMs })).length > 0
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return true
  }
}
