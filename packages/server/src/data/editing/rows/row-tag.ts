// The ETag of a row: an HMAC, because a plain digest of all columns lets a caller test guesses about columns that it may not see.

import type { BaseServices } from '../../../api/resource/resource.ts'
import { ident, joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { driverOf } from '../../databases/drivers.ts'
import type { Dataset } from '../../datasets/dataset-record.ts'

export type RowTagger = {
  /** The digest of the row with the alias `q`. */
  readonly digest: Sql
  tagOf(digest: unknown): string
}

/**
 * Equal for equal contents, whoever computes it: sessions print values alike (`kernel/db/postgres/postgres-client.ts`). Not xmin, which is
 * another one after a restore, and which partitioned tables do not return. In an external database the user may read some columns only,
 * those of the dataset, and then no whole row; so it is with rules, whose tag must not tell of attributes that are hidden.
 */
function digestOf({
  databaseType,
  attributes,
  narrowing,
}: Pick<Dataset, 'databaseType' | 'attributes' | 'narrowing'>): Sql {
  if (driverOf(databaseType)?.isPlatform && !narrowing) return raw('md5((q.*)::text)')
  const seen = attributes.filter(({ name }) => !narrowing?.masks.has(name))
  const columns = seen.map(({ name }) => sql`q.${ident(name)}`)
  return sql`md5(ROW(${joinSql(columns, ', ')})::text)`
}

const tagLength = 32

/** With the dataset's id, so that tags of equal rows in two datasets do not show that they are equal. */
export const rowTagger = ({ secrets }: Pick<BaseServices, 'secrets'>, dataset: Dataset): RowTagger => ({
  digest: digestOf(dataset),
  // Hexadecimal, because an end such as -br would be taken for that of a compressed answer.
  tagOf: (digest) => secrets.authenticate('row tag', `${dataset.id} ${digest}`).slice(0, tagLength),
})
