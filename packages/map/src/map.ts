// biome-ignore-all lint/performance/noBarrelFile: the entry of the package

export type { Legend, LegendOptions } from './controls/legend.ts'
export type { MeasureControl, MeasureOptions } from './controls/measure-control.ts'
export type { PlaceSearch, PlaceSearchOptions } from './controls/place-search.ts'
export type { TimeControl, TimeControlOptions } from './controls/time-control.ts'
export type { LayersOption, SourceLayer } from './default-layers.ts'
export { GraticuleMap } from './graticule-map.ts'
export type { Cells, CellValue, ColorBy, Heat, SizeBy } from './look.ts'
export type { FoundPlace, MapClient } from './map-client.ts'
export type { GraticuleMapEvents } from './map-events.ts'
export type { GraticuleMapOptions, RecipePart } from './map-options.ts'
export type { Field, FieldsContent } from './popups/fields.ts'
export {
  type ClickedFeature,
  html,
  type PopupContent,
  type PopupContext,
  type PopupDescription,
  type PopupFunction,
} from './popups/popups.ts'
export type { FeatureId, Properties, RowProperties, SelectedFeature } from './selection.ts'
export { DataSource } from './source/data-source.ts'
export type { DataSourceEvents } from './source/source-events.ts'
export type { SourceFilter } from './source/source-filter.ts'
export type { DataSourceOptions, SelectionMode } from './source/source-options.ts'
export type { FeatureEvent } from './source/source-pointer.ts'
export { createState, type State, type Store, stateOfObject, stateOfStore } from './state.ts'
export type { Theme } from './theme.ts'
