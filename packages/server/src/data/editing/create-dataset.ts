// POST of datasets with `columns`: the table is made with the dataset, in one transaction.
import Type, { type TObject } from 'typebox'
import type { Operation } from '../../api/http/operation.ts'
import { crudOperations } from '../../api/resource/crud.ts'
import { fitsIdentifier } from '../../kernel/db/identifier.ts'
import { invalid } from '../../kernel/errors.ts'
import { isPlatformType, platformTypes } from '../databases/drivers.ts'
import { tenantSchema } from '../databases/tenant-schema.ts'
import { type DatasetServices, dataset } from '../datasets/dataset.ts'
import { claimTable, noteAttributes } from '../datasets/store-dataset.ts'
import { quotaExceeded } from '../uploads/http/arriving-uploads.ts'
import type { MeasuredQuota } from '../uploads/http/storage-quota.ts'
import { type ColumnInput, columnSchema, type NewColumn, planColumns, tooLongName } from './column-definition.ts'
import { readColumnFacts } from './column-facts.ts'
import type { EditServices } from './editing.ts'
import { makeTable } from './make-table.ts'

const maxColumns = 200

const columns = Type.Optional(
  Type.Array(columnSchema, {
    minItems: 1,
    maxItems: maxColumns,
    description:
      'Makes the table that `source` names, in the application’s own database. Without a primary key it gets a numbered column `id`. ' +
      'It is deleted with the dataset.',
  }),
)

type CreateServices = EditServices & DatasetServices

/** What is known of the table while it is not there yet. The quota is measured before the transaction. */
type Making = { readonly columns: readonly NewColumn[]; quota?: MeasuredQuota }
type MakingServices = CreateServices & { readonly making: Making }

const [createWithTable] = crudOperations<MakingServices>(
  { ...dataset, verbs: ['create'] },
  {
    async addition(tx, { id, applicationId, databaseId, source }, { making: { columns, quota } }) {
      const place = { schema: tenantSchema(String(applicationId)), name: String(source) }
      await makeTable(tx, place, columns)
      await claimTable(tx, String(id), { databaseId, ...place })
      if (quota && (await quota.left(tx)) < 0) throw quotaExceeded(quota.bytes)
      const facts = await readColumnFacts(tx, place)
      const attributes = columns.map(({ attribute }) => ({ ...attribute, ...facts.get(attribute.name) }))
      await noteAttributes(tx, String(id), attributes)
      return { attributes }
    },
  },
)

/** The standard operations of datasets, but the one that creates also makes tables. */
export function makingTables(operations: readonly Operation<DatasetServices>[]): Operation<CreateServices>[] {
  return operations.map((operation) => (operation.id === 'datasets.create' ? creating(operation) : operation))
}

type Body = { readonly columns?: readonly ColumnInput[]; readonly type: unknown; readonly source: unknown }

function creating(standard: Operation<DatasetServices>): Operation<CreateServices> {
  const { properties, examples } = standard.body as TObject & { examples: unknown[] }
  return {
    ...standard,
    description: 'With `columns` the table is made, too.',
    body: Type.Object({ ...properties, columns }, { additionalProperties: false, examples }),
    handle(context, input) {
      const { columns: columnInputs, ...rest } = input.body as Body
      if (columnInputs === undefined) return standard.handle(context, input)
      checkNewTable(rest)
      const services = makingServices(context.services, planColumns(columnInputs, 'body/columns'))
      return createIn(context, services, { ...input, body: rest })
    },
  }
}

type Handle = Operation<CreateServices>['handle']

function createIn(context: Parameters<Handle>[0], services: MakingServices, input: Parameters<Handle>[1]) {
  const { request, tree, trail, caller, scope } = context as Parameters<Handle>[0] & { caller: unknown; scope: unknown }
  const own = { request, tree, trail, caller, scope, services }
  // Read late, because the signal is created when it is first read.
  const making = Object.defineProperty(own, 'signal', { get: () => context.signal })
  return (createWithTable as Operation<MakingServices>).handle(making as never, input)
}

/** A name that needs no quotes in `source`. */
const plainName = /^[\p{L}_][\p{L}\p{N}_]*$/u

function checkNewTable({ type, source }: Body): void {
  if (type !== 'table') throw invalid('body/columns', 'must be given for a dataset of type table only')
  const name = String(source)
  if (!fitsIdentifier(name)) throw tooLongName('body/source', name)
  if (!plainName.test(name) || name.startsWith('svc_'))
    throw invalid(
      'body/source',
      'must be the name of the new table: letters, digits and _, not beginning with a digit or svc_',
    )
}

function makingServices(services: CreateServices, columns: readonly NewColumn[]): MakingServices {
  const making: Making = { columns }
  const inspect: CreateServices['sources']['inspect'] = async ({ applicationId, databaseId }) => {
    const record = await services.connections.lookUp(applicationId, databaseId)
    if (!isPlatformType(record?.type))
      throw invalid(
        'body/databaseId',
        `must be a database of type ${platformTypes.join(' or ')}: tables are made in the application’s own schema`,
      )
    making.quota = await services.uploading.storage.measure(services.db, applicationId)
    return { attributes: columns.map(({ attribute }) => attribute), bytes: 0, rowEstimate: 0 }
  }
  return { ...services, making, sources: { ...services.sources, inspect } }
}
