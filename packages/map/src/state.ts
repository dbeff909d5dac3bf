/**
 * Observable application state, read and written by paths such as `ui.city`. Values are immutable, so that comparison by
 * identity detects changes (as React's useSyncExternalStore does).
 */
export interface State {
  get(path: string): unknown
  set(path: string, value: unknown): void
  /** Calls the listener with the new value when the value at the path changes. Returns a function that unsubscribes. */
  subscribe(path: string, listener: (value: unknown) => void): () => void
}

/** The interface of stores such as zustand, or Redux Toolkit's `configureStore` with a setter. */
export interface Store {
  getState(): unknown
  setState(next: never): unknown
  subscribe(listener: () => void): () => void
}

type Group = Readonly<Record<string, unknown>>

export function createState(initial: object = {}): State {
  let current = initial
  const listeners = new Set<() => void>()
  return stateOfStore({
    getState: () => current,
    setState(next: object) {
      current = next
      for (const listener of [...listeners]) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  })
}

/** Wraps an existing store. `set` replaces the store's whole state. */
export function stateOfStore(store: Store): State {
  const get = (path: string) => valueAt(store.getState(), stepsOf(path))
  return {
    get,
    set(path, value) {
      if (!Object.is(get(path), value)) store.setState(withValue(store.getState(), stepsOf(path), value) as never)
    },
    subscribe(path, listener) {
      let last = get(path)
      return store.subscribe(() => {
        const value = get(path)
        if (Object.is(value, last)) return
        last = value
        listener(value)
      })
    },
  }
}

/**
 * Wraps a plain object: `set` assigns to it, and assignments to `observed` (a deep proxy) notify the listeners.
 * Assignments to the object itself are not noticed.
 */
export function stateOfObject<Target extends object>(target: Target): State & { readonly observed: Target } {
  const listeners = new Set<() => void>()
  const proxies = new WeakMap<object, object>()
  const observe = <Value>(value: Value): Value => {
    if (!isPlain(value)) return value
    const proxy = proxies.get(value) ?? new Proxy(value, { get: read, set: write, deleteProperty: drop })
    proxies.set(value, proxy)
    return proxy as Value
  }
  const tell = () => {
    for (const listener of [...listeners]) listener()
    return true
  }
  const read = (object: object, name: PropertyKey): unknown => observe(Reflect.get(object, name))
  const write = (object: object, name: PropertyKey, value: unknown) => Reflect.set(object, name, value) && tell()
  const drop = (object: object, name: PropertyKey) => Reflect.deleteProperty(object, name) && tell()
  const { get, subscribe } = stateOfStore({
    getState: () => target,
    setState: tell,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  })
  const set = (path: string, value: unknown) => {
    if (Object.is(get(path), value)) return
    assignAt(target, stepsOf(path), value)
    tell()
  }
  return { get, set, subscribe, observed: observe(target) }
}

function stepsOf(path: string): string[] {
  const steps = path.split('.')
  if (steps.some((step) => step === '' || step === '__proto__'))
    throw new TypeError(
      `"${path}" is not a path of the state. A path has names with dots between them, such as ui.city.`,
    )
  return steps
}

const isPlain = (value: unknown): value is object => {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function valueAt(root: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>(
    (group, step) => (isGroup(group) && Object.hasOwn(group, step) ? group[step] : undefined),
    root,
  )
}

function withValue(group: unknown, [step = '', ...rest]: readonly string[], value: unknown): unknown {
  const members = isGroup(group) ? group : {}
  const next = rest.length === 0 ? value : withValue(members[step], rest, value)
  return { ...members, [step]: next }
}

function assignAt(target: object, steps: readonly string[], value: unknown): void {
  const last = steps.at(-1) ?? ''
  let group = target
  for (const step of steps.slice(0, -1)) {
    const next = valueAt(group, [step])
    const inner = isGroup(next) ? next : {}
    if (inner !== next) Reflect.set(group, step, inner)
    group = inner
  }
  Reflect.set(group, last, value)
}

const isGroup = (value: unknown): value is Group => typeof value === 'object' && value !== null && !Array.isArray(value)
