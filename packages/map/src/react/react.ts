/// <reference lib="dom" />
/**
 * React bindings: components for the map and its data sources, and a hook for the application state. Without JSX, so that
 * Node can run the sources directly.
 */
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
import { type DataSourceEvents, DataSource as MapDataSource } from '../data-source.ts'
import { type GraticuleMapEvents, type GraticuleMapOptions, GraticuleMap as MapObject } from '../graticule-map.ts'
import type { PopupContext } from '../popups.ts'
import type { DataSourceOptions } from '../source-options.ts'
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

export interface DataSourceProps extends Omit<DataSourceOptions, 'svcMap'> {
  onSelectionChange?: (event: CustomEvent<DataSourceEvents['selectionchange']>) => void
  onError?: (event: CustomEvent<DataSourceEvents['error']>) => void
  onLiveEnd?: (event: CustomEvent<DataSourceEvents['liveend']>) => void
  onData?: () => void
}

/** A data source of the surrounding map. Changed options recreate it; changed data and layers only update it. */
export function DataSource(props: DataSourceProps): null {
  const { src, layers, selectionPopup, onSelectionChange, onError, onLiveEnd, onData, ...fixed } = props
  const map = useMap()
  const latest = useLatest(props)
  const [source, setSource] = useState<MapDataSource | null>(null)
  const popup = typeof selectionPopup === 'function' ? followed(latest) : selectionPopup
  // Functions and data are read from the latest props; the other options are plain values, compared as JSON.
  const kind = typeof src === 'string' ? 'address' : 'inline'
  const key = JSON.stringify([fixed, kind, typeof selectionPopup === 'function' ? true : selectionPopup])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key contains all options that recreate the source
  useEffect(() => {
    const { src, layers } = latest.current
    const made = new MapDataSource({ ...fixed, svcMap: map, src, layers, selectionPopup: popup })
    made.addEventListener('selectionchange', (event) => latest.current.onSelectionChange?.(event))
    made.addEventListener('error', (event) => latest.current.onError?.(event))
    made.addEventListener('liveend', (event) => latest.current.onLiveEnd?.(event))
    made.addEventListener('data', () => latest.current.onData?.())
    setSource(made)
    return () => {
      setSource(null)
      made.remove()
    }
  }, [map, key, latest])
  useChanged(source, src, (made) => made.setSrc(src))
  useChanged(source, layers, (made) => made.setLayers(layers))
  return null
}

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

const followed = (latest: RefObject<DataSourceProps>) => (context: PopupContext) => {
  const { selectionPopup } = latest.current
  return typeof selectionPopup === 'function' ? selectionPopup(context) : null
}
