/** For each operation and each tool of models: where in its body the largest values can stand. */
import type { DeclaredOperation } from '../../src/api/http/operation.ts'
import { bodyBudget } from '../../src/kernel/json/json-budget.ts'
import { limits } from '../../src/kernel/limits/limits.ts'

export type Placement = {
  /** `datasets.queryAdvanced where.$or` */
  readonly name: string
  readonly method: string
  readonly path: string
  /** The largest body that the operation takes, in bytes. */
  readonly bytes: number
  /** The most values that are counted there. */
  readonly values: number
  /** With the master key. */
  readonly asMaster: boolean
  /** The body with this JSON text in it. */
  body(value: string): string
}

type Schema = {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly examples?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
}

const usualBytes = 1_048_576
const publicBytes = 16_384
const value = '\0'

/** The text of an object in which a NUL stands for the value. */
const template = (made: object): ((text: string) => string) => {
  const [before = '', after = ''] = JSON.stringify(made).split(JSON.stringify(value))
  return (text) => before + text + after
}

/** Where schemas say less than the code that reads the value. */
const inside: Readonly<Record<string, readonly object[]>> = {
  'datasets.queryAdvanced': [
    { where: { $or: value } },
    { where: { $and: value } },
    { where: { id: value } },
    { where: { name: { $in: value } } },
    { where: { geom: { $intersects: value } } },
    { where: { geom: { $intersects: { type: 'MultiPoint', coordinates: value } } } },
    { where: { geom: { $within: { type: 'GeometryCollection', geometries: value } } } },
    { nearest: { geometry: { type: 'LineString', coordinates: value } } },
  ],
  'datasets.insertRows': [
    { name: value },
    { geom: value },
    { geom: { type: 'MultiPoint', coordinates: value } },
    { type: 'FeatureCollection', features: value },
    { type: 'Feature', properties: value, geometry: null },
  ],
  'ogc.createItem': [
    { type: 'Feature', properties: value, geometry: null },
    { type: 'Feature', properties: {}, geometry: { type: 'Polygon', coordinates: value } },
  ],
  'styles.create': [
    { name: 'x', style: { version: 8, sources: {}, layers: value } },
    { name: 'x', style: { version: 8, sources: value, layers: [] } },
    {
      name: 'x',
      style: {
        version: 8,
        sources: {},
        layers: [{ id: 'a', type: 'background', paint: { 'background-color': ['match', value] } }],
      },
    },
  ],
  'agents.invoke': [{ input: 'x', messages: value }, { input: value }],
  'datasets.create': [{ type: 'table', name: 'x', source: 'places', metadata: { parameters: value } }],
}

export function placementsOf(operation: DeclaredOperation, named: (name: string) => string): Placement[] {
  const { id, body, bodyLimit, access, readsText } = operation
  const common = {
    method: operation.method,
    path: addressOf(operation, named),
    bytes: bodyLimit ?? (access === 'public' ? publicBytes : usualBytes),
    values: limits[(operation.budget ?? bodyBudget).values].value,
    asMaster: typeof access === 'object' && access.class === 'applications',
  }
  const whole: Placement = { ...common, name: id, body: (text) => text }
  const inList: Placement = { ...common, name: `${id} [0]`, body: (text) => `[${text}]` }
  const members = membersOf((body ?? {}) as Schema).map((made) => ({ made, name: `${id} ${pathIn(made)}` }))
  const others = (inside[id] ?? []).map((made) => ({ made, name: `${id} ${pathIn(made)}` }))
  const parts = [...members, ...others].map(({ made, name }) => ({
    ...common,
    ...roomAt(name),
    name,
    body: template(made),
  }))
  return [whole, ...(readsText ? [inList] : []), ...parts]
}

/** Coordinates have room of their own. */
const roomAt = (name: string) => name.endsWith('.coordinates') && { values: limits.bodyCoordinates.value }

/** The schema's example, with the value in place of each member. */
function membersOf({ properties = {}, examples: [example] = [] }: Schema): object[] {
  const given = typeof example === 'object' && example !== null ? example : {}
  return Object.entries(properties).flatMap(([name, schema]) => [
    { ...given, [name]: value },
    ...Object.keys(schema.properties ?? {}).map((member) => ({ ...given, [name]: { [member]: value } })),
  ])
}

/** `where.$or` */
function pathIn(made: object): string {
  for (const [name, child] of Object.entries(made)) {
    if (child === value) return name
    if (typeof child !== 'object' || child === null) continue
    const below = pathIn(child)
    if (below !== '') return `${name}.${below}`
  }
  return ''
}

const table = 'datasets.home'

function addressOf({ path, id }: DeclaredOperation, named: (name: string) => string): string {
  const [resource = ''] = path.split('/{', 1)[0]?.split('/').slice(-1) ?? []
  const isOfTable = /^(datasets\.(query|insertRows|changeRow|putRow|addColumn)|ogc\.)/.test(id)
  const others: Readonly<Record<string, string>> = { rowKey: '1', featureId: '1', key: 'colour' }
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (name !== 'id') return others[name] ?? '1'
    if (resource === 'appconfig') return id.startsWith('appconfig.record') ? named('applications.own') : 'theme'
    if (resource === 'applications') return named('applications.own')
    return named(isOfTable ? table : `${resource}.own.0`)
  })
}

type Tool = { readonly name: string; readonly inputSchema: Schema & { readonly required?: readonly string[] } }

/** The members of each tool's arguments, in a message of the Model Context Protocol. */
export function placementsOfTool({ name, inputSchema }: Tool, named: (name: string) => string): Placement[] {
  const known: Readonly<Record<string, unknown>> = {
    datasetId: named(table),
    toDatasetId: named(table),
    distanceMeters: 1,
    text: 'x',
    measures: ['count(*) as n'],
  }
  const required = Object.fromEntries((inputSchema.required ?? []).map((member) => [member, known[member]]))
  const call = (given: unknown) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } })
  const members = Object.keys(inputSchema.properties ?? {})
  const conditions = members.includes('where') ? [{ ...required, where: { $or: value } }] : []
  const given = [value, ...members.map((member) => ({ ...required, [member]: value })), ...conditions]
  return given.map((one) => ({
    method: 'POST',
    path: '/api/v1/mcp',
    bytes: usualBytes,
    values: limits.bodyValues.value,
    asMaster: false,
    name: `mcp ${name} ${typeof one === 'string' ? '' : pathIn(one)}`,
    body: template(call(one)),
  }))
}
