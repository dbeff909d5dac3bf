import type { Cell, OutputColumn } from '../formats/cell.ts'
import type { Connection, SelectOptions } from '../query/connection.ts'
import type { Plan } from '../query/plan.ts'
import type { Relation } from '../query/plan-sql.ts'
import type { AttributeDto } from './attribute-dto.ts'
import type { InspectOptions } from './introspect.ts'
import { type MemoryOptions, memoryKind } from './memory-source.ts'
import { readDeclarations, splitMarkers } from './parameters.ts'
import { restMarkers } from './sources/rest-template.ts'
import { inspectSql, openSql } from './sql-source.ts'
import { inspectTable, openTable } from './table-source.ts'

/** A dataset as its source sees it. */
export type Dataset = {
  readonly applicationId: string
  readonly databaseId: string
  readonly type: 'table' | 'sql' | 'rest' | 'lambda'
  readonly source: string
  readonly attributes: readonly AttributeDto[]
  readonly metadata: Readonly<Record<string, unknown>>
  /** Sealed. */
  readonly secrets: string | null
}

/** How values are to be written. */
export type Shape = { readonly geometry: 'geojson' | 'wkt'; readonly srid: number }

export type Answered = {
  readonly columns: readonly OutputColumn[]
  readonly batches: AsyncIterable<Cell[][]>
  /** There is nothing beyond the first batch. */
  readonly isWhole: boolean
}

/** One interface for tables, queries, web services and functions. */
export type Source = {
  rows(plan: Plan, shape: Shape, options: SelectOptions): Promise<Answered>
  /** How the plan would be carried out, without doing it. */
  explain(plan: Plan, options: SelectOptions): Promise<unknown>
  /** Where SQL can reach it: for those who write their own. `isOurs` when nobody else wrote a part of the relation. */
  readonly inSql?: { readonly connection: Connection; readonly relation: Relation; readonly isOurs: boolean }
}

export type Inspection = { attributes: AttributeDto[]; bytes: number | null }

/** What of a dataset's own parameters a caller gave, by name. */
export type Given = Readonly<Record<string, unknown>>

export type Kind = {
  inspect(dataset: Dataset, place: Place, options: InspectOptions): Promise<Inspection>
  open(dataset: Dataset, place: Place, given: Given): Promise<Source>
}

/** Connects when asked: not every kind of dataset needs its database. */
export type Place = () => Promise<Connection>

/** What datasets need of databases. */
export type Places = {
  find(applicationId: string, id: string | undefined): Promise<{ id: string } | undefined>
  connect(applicationId: string, id: string): Promise<Connection>
}

export type Sources = {
  findDatabase(applicationId: string, id: string | undefined): Promise<string | undefined>
  inspect(dataset: object, options?: Pick<InspectOptions, 'signal' | 'mayListTables'>): Promise<Inspection>
  open(dataset: object, given: Given): Promise<Source>
}

const inspectionMs = 10_000

export function createSources(places: Places, memory: MemoryOptions): Sources {
  const kinds: Record<Dataset['type'], Kind> = {
    table: { inspect: inspectTable, open: openTable },
    sql: { inspect: inspectSql, open: openSql },
    rest: memoryKind(memory, 'rest'),
    lambda: memoryKind(memory, 'lambda'),
  }
  const kindOf = ({ type }: Dataset): Kind => kinds[type]
  return {
    findDatabase: async (applicationId, id) => (await places.find(applicationId, id))?.id,
    inspect(entity, given) {
      const dataset = entity as Dataset
      const options = { timeoutMs: inspectionMs, ...given }
      return kindOf(dataset).inspect(dataset, placeOf(places, dataset), options)
    },
    open(entity, given) {
      const dataset = entity as Dataset
      return kindOf(dataset).open(dataset, placeOf(places, dataset), given)
    },
  }
}

/** The parameters that a source reads. */
export function sourceParameters({ type, source, metadata }: Pick<Dataset, 'type' | 'source' | 'metadata'>): string[] {
  if (type === 'sql') return splitMarkers(source).names
  if (type === 'rest') return restMarkers(source)
  return type === 'lambda' ? [...readDeclarations(metadata.parameters).keys()] : []
}

/** The parameters of a dataset itself: what its source reads, and what is declared though it does not. */
export const ownParameters = (dataset: Pick<Dataset, 'type' | 'source' | 'metadata'>): ReadonlySet<string> =>
  new Set([...sourceParameters(dataset), ...readDeclarations(dataset.metadata.parameters).keys()])

const placeOf =
  (places: Places, { applicationId, databaseId }: Dataset): Place =>
  () =>
    places.connect(applicationId, databaseId)
