/** Adds controls to a map. Their code is loaded when the first one is added. */
import type { ControlPosition, IControl } from 'maplibre-gl'
import type { GraticuleMap } from '../graticule-map.ts'
import type { Legend, LegendOptions } from './legend.ts'
import type { MeasureControl, MeasureOptions } from './measure-control.ts'
import type { PlaceSearch, PlaceSearchOptions } from './place-search.ts'
import type { TimeControl, TimeControlOptions } from './time-control.ts'

function added<Control extends IControl>(map: GraticuleMap, control: Control, position: ControlPosition): Control {
  map.gl.addControl(control, position)
  return control
}

export async function addLegend(map: GraticuleMap, options: LegendOptions = {}): Promise<Legend> {
  const { Legend: Control } = await import('./legend.ts')
  return added(map, new Control(map, options), options.position ?? 'top-left')
}

export async function addSearch(map: GraticuleMap, options: PlaceSearchOptions = {}): Promise<PlaceSearch> {
  const { PlaceSearch: Control } = await import('./place-search.ts')
  return added(map, new Control(map, options), options.position ?? 'top-left')
}

export async function addTime(map: GraticuleMap, options: TimeControlOptions): Promise<TimeControl> {
  const [{ TimeControl: Control }, { timeOfSources }] = await Promise.all([
    import('./time-control.ts'),
    import('./time-of-sources.ts'),
  ])
  return added(map, new Control(map, options, timeOfSources(map, options)), options.position ?? 'bottom-left')
}

export async function addMeasure(map: GraticuleMap, options: MeasureOptions = {}): Promise<MeasureControl> {
  const { MeasureControl: Control } = await import('./measure-control.ts')
  return added(map, new Control(map, options), options.position ?? 'top-right')
}
