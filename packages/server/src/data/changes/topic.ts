// A dataset that somebody listens to.

import { ApiError } from '../../kernel/errors.ts'
import { report } from '../../kernel/events.ts'
import { driverOf } from '../databases/drivers.ts'
import type { TableName } from '../databases/postgres/introspect.ts'
import { isStandIn, serverSchema, standInOf } from '../databases/stand-in.ts'
import { tenantSchema } from '../databases/tenant-schema.ts'
import type { Dataset } from '../datasets/dataset-record.ts'
import { datasetTypeOf } from '../datasets/dataset-types.ts'
import type { TableState } from './change-log.ts'
import { frameOf } from './coalesce.ts'
import type { Listener } from './listener.ts'

export type Subscriber = {
  readonly listener: Listener
  /** Aborted when the client leaves or its credential is revoked. */
  readonly signal: AbortSignal
  /** Rules of the dataset bind the caller. */
  readonly isBound: boolean
  /** Throws if the caller may no longer see the dataset. */
  recheck(): Promise<unknown>
  /** It has got all that the process has read, and gets what follows. */
  isLive?: boolean
}

/** The state of a table that is followed. */
export type FollowedState = TableState & { readonly era: string }

export type Topic = {
  dataset: Dataset
  table: TableName
  state: FollowedState
  readonly subscribers: Set<Subscriber>
  /** When it was last noted that the table is followed. */
  followedAt: number
  /** Since when there is no such table. */
  missingSince?: number | undefined
}

/** Row security hides rows of such a table from some queries, so its events say only that something has changed. */
export const shownOf = ({ state }: Topic) => ({ era: state.era, isOpaque: state.isSecured })

/** `bound` is for those whom rules bind. */
export type Frames = { readonly whole: readonly string[]; readonly bound: readonly string[] }

export function broadcast({ subscribers }: Topic, { whole, bound }: Frames): void {
  for (const { listener, isLive, isBound } of subscribers)
    if (isLive) for (const frame of isBound ? bound : whole) tell(listener, frame)
}

export const toEverybody = (frame: string): Frames => ({ whole: [frame], bound: [frame] })

/** Sends an event, and counts it. */
export function tell(listener: Listener, frame: string): void {
  listener.send(frame)
  report('changeEvent', {})
}

export function endAll({ subscribers }: Topic, error: ApiError): void {
  for (const { listener } of [...subscribers]) listener.end(errorFrame(error))
}

/** The first event of a stream. Of a table in another database only those changes are told which are written through the service. */
export function readyFrame({ table }: Topic, resumed: boolean, id: string | undefined): string {
  return frameOf('ready', JSON.stringify({ resumed, ...(isStandIn(table) && { scope: 'graticule' }) }), id)
}

/** The last event of a stream that cannot go on. */
export const errorFrame = ({ status, code, title, message }: ApiError): string =>
  frameOf('error', JSON.stringify({ status, code, title, detail: message }))

/** The table whose changes are logged as the dataset's, or 409. */
export function followableTable(dataset: Dataset): TableName {
  const { applicationId, databaseType, serverKey, source, metadata, type } = dataset
  const { tableOf } = datasetTypeOf(dataset)
  if (!tableOf) throw refused(`it is of type "${type}", and only datasets of type "table" can be followed.`)
  const driver = driverOf(databaseType)
  if (!driver?.canFollow) throw refused(`a database of type "${databaseType}" is only read.`)
  if (!driver.isPlatform) {
    if (metadata.editable !== true) throw refused(unseen)
    return standInOf(applicationId, serverKey, tableOf(source, serverSchema))
  }
  const own = tenantSchema(applicationId)
  const table = tableOf(source, own)
  if (table.schema !== own || isStandIn(table)) throw refused('its table is not in the schema of the application.')
  return table
}

const unseen =
  'its table is in an external database, where only what is written through Graticule is seen. ' +
  'Set metadata.editable to true to write it here and to follow what is written here.'

/** The state of a table whose changes can be logged, or 409. */
export function demandFollowable(state: TableState | undefined): TableState {
  if (!state?.isReadable) throw refused('its table does not exist.')
  if (!state.isPlain) throw refused('it shows a view or a foreign table, and only tables can be followed.')
  return state
}

export const refused = (why: string): ApiError =>
  new ApiError('conflict', `The changes of this dataset cannot be followed: ${why}`)
