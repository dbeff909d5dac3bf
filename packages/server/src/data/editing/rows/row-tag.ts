// The ETag of a row: an HMAC, because a plain digest of all columns lets a caller test guesses about columns that it may not see.

import type { BaseServices } from '../../../api/resource/resource.ts'
import { raw, type Sql } from '../../../kernel/db/sql.ts'
import type { Dataset } from '../../datasets/dataset-record.ts'

/**
 * The digest of the row with the alias `q`. Equal for equal contents, whoever computes it: sessions print values alike
 * (`kernel/db/postgres/postgres-client.ts`). Not xmin, which is another one after a restore, and which partitioned tables do not return.
 */
export const digestSql: Sql = raw('md5((q.*)::text)')

/** Makes the tag of a row from its digest. */
export type TagRow = (digest: unknown) => string

const tagLength = 32

/** With the dataset's id, so that tags of equal rows in two datasets do not show that they are equal. */
export const rowTagger =
  ({ secrets }: Pick<BaseServices, 'secrets'>, { id }: Pick<Dataset, 'id'>): TagRow =>
  // Hexadecimal, because an end such as -br would be taken for that of a compressed answer.
  (digest) =>
    secrets.authenticate('row tag', `${id} ${digest}`).slice(0, tagLength)
