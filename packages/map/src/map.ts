// biome-ignore-all lint/performance/noBarrelFile: the entry of the package
export { DataSource } from './data-source.ts'
export type { LayersOption, SourceLayer } from './default-layers.ts'
export type { Field, FieldsContent } from './fields.ts'
export { GraticuleMap, type GraticuleMapEvents, type GraticuleMapOptions } from './graticule-map.ts'
export type { Legend, LegendOptions } from './legend.ts'
export type { ColorBy, Heat, SizeBy } from './look.ts'
export type { MapClient } from './map-client.ts'
export {
  type ClickedFeature,
  html,
  type PopupContent,
  type PopupContext,
  type PopupDescription,
  type PopupFunction,
} from './popups.ts'
export type { FeatureId, Properties, SelectedFeature } from './selection.ts'
export type { DataSourceEvents } from './source-events.ts'
export type { SourceFilter } from './source-filter.ts'
export type { DataSourceOptions, SelectionMode } from './source-options.ts'
export type { FeatureEvent } from './source-pointer.ts'
export { createState, type State, type Store, stateOfObject, stateOfStore } from './state.ts'
export type { Theme } from './theme.ts'
