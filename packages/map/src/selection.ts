/**
 * The selection of one data source: ids in order, the properties that are loaded, and the binding of both to the
 * application state. Ids are compared as text, as MapLibre's feature state does.
 */

import type { DataSourceOptions, SelectionMode } from './source/source-options.ts'
import type { State } from './state.ts'

export type FeatureId = string | number
export type Properties = Readonly<Record<string, unknown>>
/** The properties of a feature that is a row: tiles leave out what is null. */
export type RowProperties<Row extends object> = { readonly [Name in keyof Row]?: Row[Name] }
/** Properties are null while they are not loaded. */
export type SelectedFeature<Row extends object = Properties> = {
  readonly id: FeatureId
  readonly properties: RowProperties<Row> | null
}

export interface SelectionOutlet {
  /** Sets the feature state on the map. */
  mark(id: FeatureId, isSelected: boolean): void
  /** Properties that are already loaded, by id as text. */
  loaded(ids: readonly FeatureId[]): ReadonlyMap<string, Properties>
  /** Properties that need a request. */
  fetched(ids: readonly FeatureId[]): Promise<ReadonlyMap<string, Properties>>
  changed(): void
  failed(error: unknown): void
}

type StateNames = Pick<DataSourceOptions, 'selectionState' | 'selectionFeatureState'>

export class Selection {
  readonly mode: SelectionMode
  #selected = new Map<string, { id: FeatureId; properties: Properties | null }>()
  readonly #state: State
  readonly #stateNames: StateNames
  readonly #outlet: SelectionOutlet
  #unsubscribe: (() => void) | undefined

  constructor(mode: SelectionMode, state: State, stateNames: StateNames, outlet: SelectionOutlet) {
    this.mode = mode
    this.#state = state
    this.#stateNames = stateNames
    this.#outlet = outlet
  }

  /** Reads the selection from the application state and follows its changes. */
  bind(): void {
    const { selectionState: path } = this.#stateNames
    if (!path) return
    this.#unsubscribe = this.#state.subscribe(path, (value) => this.#follow(path, value))
    this.#follow(path, this.#state.get(path))
  }

  unbind(): void {
    this.#unsubscribe?.()
  }

  get ids(): FeatureId[] {
    return Array.from(this.#selected.values(), ({ id }) => id)
  }

  get features(): SelectedFeature[] {
    return Array.from(this.#selected.values(), ({ id, properties }) => ({ id, properties }))
  }

  has(id: FeatureId): boolean {
    return this.#selected.has(String(id))
  }

  /** Replaces the selection; in single mode, by the last id. */
  select(ids: readonly FeatureId[], properties: ReadonlyMap<string, Properties> = new Map()): void {
    const wanted = new Map((this.mode === 'multi' ? ids : ids.slice(-1)).map((id) => [String(id), id]))
    const isSame = wanted.size === this.#selected.size && [...wanted.keys()].every((key) => this.#selected.has(key))
    if (isSame) return
    const before = this.#selected
    this.#selected = new Map()
    for (const [key, id] of wanted)
      this.#selected.set(key, before.get(key) ?? { id, properties: properties.get(key) ?? null })
    for (const [key, { id }] of before) if (!wanted.has(key)) this.#outlet.mark(id, false)
    for (const [key, id] of wanted) if (!before.has(key)) this.#outlet.mark(id, true)
    this.#fill(this.#outlet.loaded(this.#unknown()))
    this.#publish()
    this.#fetch(this.#unknown())
  }

  /** Restores the feature state after MapLibre has dropped it. */
  markAll(): void {
    for (const { id } of this.#selected.values()) this.#outlet.mark(id, true)
  }

  /** Fills in missing properties from loaded data. */
  complete(): void {
    const unknown = this.#unknown()
    if (unknown.length > 0 && this.#fill(this.#outlet.loaded(unknown))) this.#publish()
  }

  /** Updates the properties after the data changed. Features that are not found keep theirs. */
  renew(): void {
    const loaded = this.#outlet.loaded(this.ids)
    if (this.#fill(loaded)) this.#publish()
    this.#fetch(this.ids.filter((id) => !loaded.has(String(id))))
  }

  #unknown(): FeatureId[] {
    return this.features.filter(({ properties }) => properties === null).map(({ id }) => id)
  }

  #fill(loaded: ReadonlyMap<string, Properties>): boolean {
    let isFilled = false
    for (const [key, entry] of this.#selected) {
      const properties = loaded.get(key)
      if (!properties) continue
      entry.properties = properties
      isFilled = true
    }
    return isFilled
  }

  #fetch(ids: readonly FeatureId[]): void {
    if (ids.length === 0) return
    this.#outlet.fetched(ids).then(
      (fetched) => this.#fill(fetched) && this.#publish(),
      (error: unknown) => this.#outlet.failed(error),
    )
  }

  #publish(): void {
    const { selectionState, selectionFeatureState } = this.#stateNames
    const isMulti = this.mode === 'multi'
    const { ids, features } = this
    if (selectionState) {
      const isSame = sameIds(this.#state.get(selectionState), ids)
      if (!isSame) this.#state.set(selectionState, isMulti ? ids : (ids[0] ?? null))
    }
    if (selectionFeatureState) {
      const byId = () => Object.fromEntries(features.map(({ id, properties }) => [id, properties]))
      this.#state.set(selectionFeatureState, isMulti ? byId() : (features[0]?.properties ?? null))
    }
    this.#outlet.changed()
  }

  #follow(path: string, value: unknown): void {
    const ids = value === null || value === undefined ? [] : this.mode === 'multi' ? value : [value]
    if (isIds(ids)) {
      this.select(ids)
      return
    }
    const allowed = this.mode === 'multi' ? 'an array of ids' : 'an id (a text or a number)'
    this.#outlet.failed(new TypeError(`selectionState: "${path}" must be ${allowed} or null. The selection stays.`))
  }
}

const isIds = (value: unknown): value is FeatureId[] =>
  Array.isArray(value) && value.every((id) => typeof id === 'string' || typeof id === 'number')

/** Whether the state already has these ids; writing them again would replace the application's own array. */
function sameIds(value: unknown, ids: readonly FeatureId[]): boolean {
  if (value === undefined) return false
  const wanted = value === null ? [] : Array.isArray(value) ? value : [value]
  return wanted.length === ids.length && ids.every((id) => wanted.some((other) => String(other) === String(id)))
}
