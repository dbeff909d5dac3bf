/**
 * The keys of all queries of resources, so that what a change invalidates is what a page asked for: everything of a resource, its lists,
 * what else is asked of all its records, one record, and what is asked of one.
 */
const keysOf = <Name extends string, Part extends string = never>(name: Name, _parts: readonly Part[] = []) => ({
  all: [name] as const,
  list: [name, 'list'] as const,
  listWith: <How>(how: How) => [name, 'list', how] as const,
  part: <Rest extends unknown[]>(part: Part, ...rest: Rest) => [name, part, ...rest] as const,
  one: <Rest extends [] | [Part, ...unknown[]]>(id: string, ...rest: Rest) => [name, id, ...rest] as const,
})

export const queryKeys = {
  agents: keysOf('agents', ['invocations', 'last', 'workers']),
  apikeys: keysOf('apikeys'),
  appconfig: keysOf('appconfig'),
  applications: keysOf('applications', ['limits', 'names', 'with its tag']),
  contactpoints: keysOf('contactpoints', ['deliveries', 'drivers']),
  databases: keysOf('databases', ['columns', 'drivers', 'plan', 'state', 'tables', 'type']),
  datasets: keysOf('datasets', [
    ...([
      'conversion',
      'count',
      'estimate',
      'features',
      'look',
      'plan',
      'row',
      'rules',
      'statistics',
      'stored-row',
      'tags',
      'users',
      'values',
    ] as const),
  ]),
  oidcproviders: keysOf('oidcproviders'),
  outbox: keysOf('outbox'),
  queries: keysOf('queries'),
  roles: keysOf('roles'),
  styles: keysOf('styles', ['new', 'picture', 'with-etag']),
  tiles: keysOf('tiles', ['bounds']),
  tilesources: keysOf('tilesources', ['count', 'drivers', 'explain', 'of-datasets', 'tile', 'tilejson']),
  uploads: keysOf('uploads', ['preview']),
  users: keysOf('users', ['roles']),
}
