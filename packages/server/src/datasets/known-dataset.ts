import type { Db } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import type { Attributes } from '../query/attribute.ts'
import { createRecent, type Recent } from '../resource/recent.ts'
import type { Entity, Resource } from '../resource/resource.ts'
import { attributesOf } from './attribute-dto.ts'
import { type Dataset, ownParameters } from './sources.ts'

/** A dataset with all that an operation on its rows needs to know of it. */
export type KnownDataset = {
  readonly dataset: Dataset
  readonly attributes: Attributes
  /** The names of the dataset's own parameters. */
  readonly parameters: ReadonlySet<string>
}

export function createKnownDatasets(db: Db, resource: Resource): Recent<KnownDataset> {
  return createRecent({ db, resource }, async ({ entity }): Promise<KnownDataset> => {
    const dataset = { ...entity, secrets: await sealedSecrets(db, entity) } as unknown as Dataset
    return { dataset, attributes: attributesOf(dataset), parameters: ownParameters(dataset) }
  })
}

/** Write-only, so it is not part of the record; only a web service needs it. */
async function sealedSecrets(db: Db, { id, type }: Entity): Promise<string | null> {
  if (type !== 'rest') return null
  const [row] = await db.query<{ secrets: string | null }>(
    sql`SELECT secrets FROM svc.datasets WHERE id = ${String(id)}::uuid`,
  )
  return row?.secrets ?? null
}
