// The dataset record as stored, with the fields that no answer shows.

import type { Periods } from '../../query/execution/introspection.ts'
import type { ServerKey } from '../databases/driver.ts'
import type { AttributeDto } from './attribute-dto.ts'
import type { Narrowing } from './rules/narrowing-type.ts'
import type { Ruled } from './rules/rule.ts'

/** A dataset as used inside the service. Callers that need only a part pick it from this type. */
export type Dataset = Ruled & {
  readonly id: string
  readonly applicationId: string
  readonly databaseId: string
  /** The driver of the database. */
  readonly databaseType: string
  /** Which server and database that is. */
  readonly serverKey: ServerKey
  readonly name: string
  /** A key of dataset-types.ts. A newer version of the service may have stored an unknown one. */
  readonly type: string
  readonly source: string
  readonly attributes: readonly AttributeDto[]
  readonly metadata: Readonly<Record<string, unknown>>
  /** Encrypted. */
  readonly secrets: string | null
  /** Changes with every update of the record. */
  readonly revision: string
  /** Not stored: see longitude-periods.ts. */
  readonly periods?: Periods
  /** Not stored: what rules leave of the dataset for a caller, where they bind one. */
  readonly narrowing?: Narrowing
}

/** The part of a dataset that is inspected; a dataset that is not stored yet has only this. */
export type DatasetDraft = Omit<Dataset, 'id' | 'name' | 'revision' | 'databaseType' | 'serverKey' | 'periods'>
