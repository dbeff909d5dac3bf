/// <reference lib="dom" />
/**
 * React bindings: components for the map and its data sources, and a hook for the application state. Without JSX, so that
 * Node can run the sources directly.
 */
import type { IControl } from 'maplibre-gl'
import {
  type CSSProperties,
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  type RefObject,
  useCallback,
  useContext,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import type { LegendOptions } from '../controls/legend.ts'
import type { PlaceSearchOptions } from '../controls/place-search.ts'
import type { TimeControlOptions } from '../controls/time-control.ts'
import { GraticuleMap as MapObject } from '../graticule-map.ts'
import type { GraticuleMapEvents } from '../map-events.ts'
import type { GraticuleMapOptions } from '../map-options.ts'
import type { PopupFunction } from '../popups/popups.ts'
import type { Properties } from '../selection.ts'
import { DataSource as MapDataSource } from '../source/data-source.ts'
import type { DataSourceEvents } from '../source/source-events.ts'
import type { DataSourceOptions } from '../source/source-options.ts'
import type { State } from '../state.ts'

const MapContext = createContext<MapObject | null>(null)
const StateContext = createContext<State | null>(null)

/** Provides the application state to maps and other components. */
export function AppState({ state, children }: { state: State; children?: ReactNode }): ReactElement {
  return createElement(StateContext.Provider, { value: state }, children)
}

export interface GraticuleMapProps extends Omit<GraticuleMapOptions, 'container'> {
  className?: string
  /** CSS of the map's container. @defaultValue fills its parent */
  containerStyle?: CSSProperties
  onReady?: (map: MapObject) => void
  onError?: (event: CustomEvent<GraticuleMapEvents['error']>) => void
  onSourceError?: (event: CustomEvent<GraticuleMapEvents['sourceerror']>) => void
  onLiveEnd?: (event: CustomEvent<GraticuleMapEvents['liveend']>) => void
  children?: ReactNode
}

const wholeRoom: CSSProperties = { width: '100%', height: '100%' }

/**
 * A map, with its data sources and other components as children. Changing `style` or `live` changes the map; changing `client`,
 * `state` or `theme` creates a new one. MapLibre's own options are read only once.
 */
export function GraticuleMap(props: GraticuleMapProps): ReactElement {
  const { className, containerStyle = wholeRoom, children, client, style, theme, live = false } = props
  const outerState = useContext(StateContext)
  const state = props.state ?? outerState ?? undefined
  const container = useRef<HTMLDivElement>(null)
  const latest = useLatest(props)
  const [map, setMap] = useState<MapObject | null>(null)
  useEffect(() => {
    if (!container.current) return
    const made = new MapObject({ ...optionsOf(latest.current), client, theme, state, container: container.current })
    made.addEventListener('error', (event) => latest.current.onError?.(event))
    made.addEventListener('sourceerror', (event) => latest.current.onSourceError?.(event))
    made.addEventListener('liveend', (event) => latest.current.onLiveEnd?.(event))
    made.ready().then(
      () => latest.current.onReady?.(made),
      () => {}, // The event `error` has said so.
    )
    setMap(made)
    return () => {
      setMap(null)
      made.remove()
    }
  }, [client, state, theme, latest])
  const shownStyle = useRef(style)
  useEffect(() => {
    if (shownStyle.current !== style) map?.setStyle(style)
    shownStyle.current = style
  }, [map, style])
  useEffect(() => map?.setLive(live), [map, live])
  const inner = map && createElement(StateContext.Provider, { value: map.state }, children)
  return createElement(
    'div',
    { className, style: { position: 'relative', ...containerStyle } },
    createElement('div', { ref: container, style: wholeRoom }),
    map && createElement(MapContext.Provider, { value: map }, inner),
  )
}

function optionsOf({
  className,
  containerStyle,
  onReady,
  onError,
  onSourceError,
  onLiveEnd,
  children,
  ...options
}: GraticuleMapProps) {
  return options
}

export interface DataSourceProps<Row extends object = Properties>
  extends Omit<DataSourceOptions<Row>, 'svcMap' | 'map'> {
  onSelectionChange?: (event: CustomEvent<DataSourceEvents<Row>['selectionchange']>) => void
  onError?: (event: CustomEvent<DataSourceEvents['error']>) => void
  onLiveEnd?: (event: CustomEvent<DataSourceEvents['liveend']>) => void
  onData?: () => void
  onClick?: (event: CustomEvent<DataSourceEvents<Row>['click']>) => void
  onHover?: (event: CustomEvent<DataSourceEvents<Row>['hover']>) => void
  onEnter?: (event: CustomEvent<DataSourceEvents<Row>['enter']>) => void
  onLeave?: (event: CustomEvent<DataSourceEvents<Row>['leave']>) => void
}

/** A source looks at what the pointer is on only if somebody listens. */
const pointerEvents = [
  ['onClick', 'click'],
  ['onHover', 'hover'],
  ['onEnter', 'enter'],
  ['onLeave', 'leave'],
] as const

/** What changes a source in place; everything else in the props recreates it, except callbacks. */
const updatable = ['src', 'layers', 'filter', 'time', 'visible', 'opacity'] as const

/** Options that may be functions, of which the latest is called. */
const contents = ['selectionPopup', 'popup', 'tooltip'] as const

/** A data source of the surrounding map. Changed data, layers, filter, visibility and opacity update it; other options recreate it. */
export function DataSource<Row extends object = Properties>(given: DataSourceProps<NoInfer<Row>>): null {
  const props = given as unknown as DataSourceProps
  const map = useMap()
  const latest = useLatest(props)
  const [source, setSource] = useState<MapDataSource | null>(null)
  const key = keyOf(props)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key contains all options that recreate the source
  useEffect(() => {
    const made = new MapDataSource({ ...sourceOptions(latest), svcMap: map })
    made.addEventListener('selectionchange', (event) => latest.current.onSelectionChange?.(event))
    made.addEventListener('error', (event) => latest.current.onError?.(event))
    made.addEventListener('liveend', (event) => latest.current.onLiveEnd?.(event))
    made.addEventListener('data', () => latest.current.onData?.())
    for (const [name, type] of pointerEvents)
      if (latest.current[name]) made.addEventListener(type, (event) => latest.current[name]?.(event))
    setSource(made)
    return () => {
      setSource(null)
      made.remove()
    }
  }, [map, key, latest])
  const { src, layers, filter, time, visible = true, opacity = 1 } = props
  useChanged(source, src, (made) => made.setSrc(src))
  useChanged(source, layers, (made) => made.setLayers(layers))
  useChanged(source, JSON.stringify(filter), (made) => made.setFilter(filter ?? null))
  useChanged(source, time, (made) => made.setTime(time ?? null))
  useChanged(source, visible, (made) => made.setVisible(visible))
  useChanged(source, opacity, (made) => made.setOpacity(opacity))
  return null
}

/** Functions and data are read from the latest props; the other options are plain values, compared as JSON. */
function keyOf(props: DataSourceProps): string {
  const plain = Object.entries(props).filter(([name]) => !updatable.includes(name as never) && !/^on[A-Z]/.test(name))
  const texts = plain.map(([name, value]) => [name, typeof value === 'function' ? 'function' : value])
  const heard = pointerEvents.filter(([name]) => props[name]).map(([name]) => name)
  return JSON.stringify([texts, typeof props.src, heard])
}

function sourceOptions(latest: RefObject<DataSourceProps>): Omit<DataSourceOptions, 'svcMap' | 'map'> {
  const given = Object.entries(latest.current).filter(([name]) => !/^on[A-Z]/.test(name) && name !== 'children')
  const options = Object.fromEntries(given) as unknown as DataSourceProps
  for (const name of contents) if (typeof options[name] === 'function') options[name] = followed(latest, name)
  return options
}

/** A control of the surrounding map, made anew when its options change; functions among them may change. */
function useControl<Options extends object>(
  options: Options,
  add: (map: MapObject, options: Options) => Promise<IControl>,
): null {
  const map = useMap()
  const latest = useLatest(options)
  const key = JSON.stringify(options)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key contains all options but functions
  useEffect(() => {
    const added = add(map, latest.current)
    return () => void added.then((control) => map.gl.hasControl(control) && map.gl.removeControl(control))
  }, [map, key, latest])
  return null
}

/** A legend of the surrounding map's data sources. */
export const Legend = (options: LegendOptions): null => useControl(options, (map, given) => map.legend(given))

/** A search box for places on the surrounding map. */
export function PlaceSearch(options: PlaceSearchOptions): null {
  const latest = useLatest(options)
  return useControl(options, (map, given) =>
    map.search({ ...given, onChoose: (place) => latest.current.onChoose?.(place) }),
  )
}

/** A slider over the time of data sources of the surrounding map. */
export const TimeControl = (options: TimeControlOptions): null => useControl(options, (map, given) => map.time(given))

/** The map that surrounds the component. */
export function useMap(): MapObject {
  const map = useContext(MapContext)
  if (!map) throw new Error('useMap and DataSource must be inside of a GraticuleMap.')
  return map
}

/** The value at a path of the application state, and its setter. */
export function useAppState<Value = unknown>(path: string): [Value, (value: Value) => void] {
  const state = useContext(StateContext)
  if (!state) throw new Error('useAppState must be inside of an AppState or a GraticuleMap.')
  const subscribe = useCallback((listener: () => void) => state.subscribe(path, listener), [state, path])
  const get = () => state.get(path) as Value
  const set = useCallback((value: Value) => state.set(path, value), [state, path])
  return [useSyncExternalStore(subscribe, get, get), set]
}

/** A ref to the latest props, for callbacks that run after rendering. */
function useLatest<Value>(value: Value): RefObject<Value> {
  const latest = useRef(value)
  useEffect(() => {
    latest.current = value
  })
  return latest
}

/** Calls `change` when the value differs from the one that the source was created with. */
function useChanged<Value>(source: MapDataSource | null, value: Value, change: (source: MapDataSource) => void): void {
  const last = useRef({ source, value })
  useEffect(() => {
    if (source && last.current.source === source && !Object.is(last.current.value, value)) change(source)
    last.current = { source, value }
  })
}

const followed =
  (latest: RefObject<DataSourceProps>, name: (typeof contents)[number]): PopupFunction =>
  (context) => {
    const content = latest.current[name]
    return typeof content === 'function' ? content(context) : null
  }
