// Opens datasets of every type for reading.
import type { Db } from '../../kernel/db/db.ts'
import type { Connection } from '../../query/execution/connection.ts'
import type { InspectOptions, TableEstimate } from '../../query/execution/introspection.ts'
import type { SelectOptions } from '../../query/execution/select-options.ts'
import { type CurrentDataset, createColumnRefresh } from './column-refresh.ts'
import type { Dataset, DatasetDraft } from './dataset-record.ts'
import type { Inspection, ParameterValues, Source, SourceContext } from './dataset-type.ts'
import { datasetTypeOf } from './dataset-types.ts'
import { createLongitudePeriods } from './longitude-periods.ts'
import type { MemoryOptions } from './memory/memory-options.ts'
import { queryRows } from './memory/memory-source.ts'
import { readDeclarations, readParameters } from './parameters.ts'
import { visibleSource } from './rules/visible-source.ts'

/** What datasets need from databases. */
export type DatabaseLookup = {
  find(applicationId: string, id: string | undefined): Promise<{ id: string } | undefined>
  connect(applicationId: string, id: string): Promise<Connection>
}

export type Sources = {
  findDatabase(applicationId: string, id: string | undefined): Promise<string | undefined>
  inspect(dataset: DatasetDraft, options?: Pick<InspectOptions, 'signal' | 'mayListTables'>): Promise<Inspection>
  open(dataset: Dataset, inputs: ParameterValues): Promise<Source>
  /** The dataset with what its table is like now: its columns, if it is in an external database, and its longitudes. */
  readonly current: CurrentDataset
  /** Estimated row count and extent, without reading rows; undefined if there are no statistics. */
  estimate(dataset: Dataset, options: SelectOptions): Promise<TableEstimate | undefined>
}

const inspectionMs = 10_000

export function createSources(db: Db, paths: DatabaseLookup, memory: MemoryOptions): Sources {
  const meansOf = (dataset: DatasetDraft): SourceContext => ({
    connect: () => paths.connect(dataset.applicationId, dataset.databaseId),
    runRest: (job, options) => queryRows(memory, dataset, job, options),
    memory,
  })
  const inspect: Sources['inspect'] = async (dataset, options) =>
    datasetTypeOf(dataset).inspect(dataset, meansOf(dataset), { timeoutMs: inspectionMs, ...options })
  const withColumns = createColumnRefresh({
    db,
    inspect,
    columns: async (dataset, options) => datasetTypeOf(dataset).columns?.(dataset, meansOf(dataset), options),
  })
  const withPeriods = createLongitudePeriods((dataset, options) =>
    datasetTypeOf(dataset).periods?.(dataset, meansOf(dataset), options),
  )
  return {
    findDatabase: async (applicationId, id) => (await paths.find(applicationId, id))?.id,
    inspect,
    current: async (dataset) => withPeriods(await withColumns(dataset)),
    open: async (dataset, inputs) =>
      visibleSource(dataset, await datasetTypeOf(dataset).open(dataset, meansOf(dataset), inputs)),
    estimate: async (dataset, options) => datasetTypeOf(dataset).estimate?.(dataset, meansOf(dataset), options),
  }
}

type Parameterised = Pick<Dataset, 'type' | 'source' | 'metadata'>

/** The dataset's own parameters: those its source uses, and those declared but unused. */
export const ownParameters = (dataset: Parameterised): ReadonlySet<string> =>
  new Set([...datasetTypeOf(dataset).parameters(dataset), ...readDeclarations(dataset.metadata.parameters).keys()])

/** Throws a 400 for wrong or missing parameters of the dataset. */
export function checkInputs(dataset: Parameterised, inputs: ParameterValues): void {
  readParameters(dataset.metadata.parameters, datasetTypeOf(dataset).parameters(dataset), inputs)
}
