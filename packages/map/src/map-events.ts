import type { DataSource } from './source/data-source.ts'

export interface GraticuleMapEvents {
  /** A data source failed. Logged to the console unless the event's default is prevented. */
  sourceerror: { readonly source: DataSource; readonly error: Error }
  /** Another part of the map failed, such as its style. Logged to the console unless the event's default is prevented. */
  error: { readonly error: Error }
  /** What the legend says has changed. */
  legendchange: null
  /**
   * A source of the style, or a data source, is no longer live: its dataset cannot be followed, is gone, or may not be read. It goes
   * on showing what it has.
   */
  liveend: { readonly sourceId: string; readonly source?: DataSource; readonly error: Error }
}
