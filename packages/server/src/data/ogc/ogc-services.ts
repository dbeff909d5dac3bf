/** The services that the operations of /ogc use: those of datasets and of tiles. */
import type { Scope } from '../../api/access/acl.ts'
import { type Operation, operationUsing } from '../../api/http/operation.ts'
import type { DatasetServices } from '../datasets/dataset.ts'
import type { QueryServices } from '../datasets/queries/query-services.ts'
import type { EditServices } from '../editing/editing.ts'
import type { TileServices } from '../tiles/http/tile-services.ts'
import type { ReadCrs } from './collections/crs.ts'
import type { HasUnplacedRows } from './collections/unplaced-rows.ts'
import { type Root, rootOf } from './links.ts'
import { chooseForm, type Form } from './negotiate.ts'

export type OgcServices = DatasetServices &
  QueryServices &
  EditServices &
  TileServices & { readonly readCrs: ReadCrs; readonly hasUnplacedRows: HasUnplacedRows }

export const operation = operationUsing<OgcServices>()

type Context = Parameters<Operation<OgcServices>['handle']>[0]

/** The context of an operation on collections. */
export type CollectionContext = Context & { scope: Scope }

export type PublicContext = Context

export const formFor = ({ request }: PublicContext, wanted: Form | undefined): Form =>
  chooseForm(wanted, request.headers.accept)

export const rootFor = ({ request, services, tree }: PublicContext): Root => rootOf(services.baseUrl(request), tree)
