/**
 * The datasets whose changes go to a contact point. Whoever sends them elsewhere needs what binding them needs, lest a key that may
 * only write contact points reads the changes of datasets that it may not query.
 */
import { denied, reachesRecord, type Scope, scopeOf } from '../../api/access/acl.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'

type BoundDataset = { id: string; ownerId: number | null }

/** 401 unless the caller may query every dataset that is bound to the contact point. */
export async function demandBoundDatasets(db: Db, { caller }: Scope, contactPointId: string): Promise<void> {
  const bound = await db.query<BoundDataset>(sql`
    SELECT d.id, d.owner_id AS "ownerId" FROM svc.change_bindings b JOIN svc.datasets d ON d.id = b.dataset_id
    WHERE b.contact_point_id = ${contactPointId}::uuid`)
  if (bound.length === 0) return
  const scope = scopeOf(caller, 'datasets', 'execute')
  if (bound.every((dataset) => reachesRecord(scope, dataset))) return
  throw denied(
    'Changes of datasets are sent to this contact point: changing its type or settings needs execute access to each of them.',
  )
}
