/** The events of a data source. */
import type { FeatureId, Properties, SelectedFeature } from '../selection.ts'
import type { FeatureEvent } from './source-pointer.ts'

export interface DataSourceEvents<Row extends object = Properties> {
  /** The selected ids or the loaded properties of their features changed. */
  selectionchange: { readonly ids: FeatureId[]; readonly features: SelectedFeature<Row>[] }
  /** A feature was clicked. */
  click: FeatureEvent<Row>
  /** The pointer moved over a feature. */
  hover: FeatureEvent<Row>
  /** The pointer came to a feature. */
  enter: FeatureEvent<Row>
  /** The pointer left a feature. */
  leave: FeatureEvent<Row>
  /** The source failed; the rest of the map works. Logged to the console unless the event's default is prevented. */
  error: { readonly error: Error }
  /** The source has loaded everything that the map shows of it. */
  data: null
  /** The source is no longer live: its dataset cannot be followed, is gone, or may not be read. `error` says so too. */
  liveend: { readonly error: Error }
}
