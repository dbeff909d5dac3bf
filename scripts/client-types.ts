// The TypeScript types of @graticule/client, made from the OpenAPI document. Our own generator, because input types leave
// out readOnly fields, and merge patches, parameters and answers need names: that is most of the work, and
// json-schema-to-typescript would leave it to be done before and after it.
import { typeNameOf } from '../packages/server/src/api/http/openapi/openapi.ts'

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly readOnly?: boolean
  readonly description?: string
  readonly title?: string
  /** Text is taken too, where the parameter of this name says its language. */
  readonly 'x-text-beside'?: string
  /** Of a text in a form: what it holds as JSON. The client writes it. */
  readonly 'x-json-schema'?: Schema
  /** Of a text in a form: the values that it may stand for. */
  readonly 'x-text-of'?: Schema
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
}

interface ApiOperation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const heading = `// Generated from openapi.json by npm run generate; a test fails when it is stale.

/** What a JSON merge patch (RFC 7396) of these fields may say: null takes a value back to its default. */
export type MergePatch<Fields> = { [Name in keyof Fields]?: Merged<Fields[Name]> | null }
type Merged<Value> = Value extends readonly unknown[] ? Value : Value extends object ? MergePatch<Value> : Value

export type JsonObject = Record<string, unknown>
`

/** Where the name that an operation's id gives would puzzle a reader. */
const names: Readonly<Record<string, string>> = {
  AuthLoginBody: 'Login',
  AuthLoginAnswer: 'Tokens',
  AuthRefreshBody: 'Refresh',
  AuthLogoutBody: 'Logout',
  AuthChangepasswordBody: 'PasswordChange',
  AuthRequestpasswordresetBody: 'PasswordResetRequest',
  AuthResetpasswordBody: 'PasswordReset',
  AuthSignupBody: 'Signup',
  AuthConfirmsignupParams: 'ConfirmSignupParams',
  AuthJwksAnswer: 'KeySet',
  AuthAccessAnswer: 'Access',
  AuthExchangeBody: 'SignInToken',
  AuthExchangeAnswer: 'SignedIn',
  AuthSessionsListItem: 'OpenSession',
  AuthSecondfactorStartBody: 'SecondFactorStart',
  AuthSecondfactorStartAnswer: 'SecondFactorSecret',
  AuthSecondfactorConfirmBody: 'SecondFactorCode',
  AuthSecondfactorConfirmAnswer: 'RecoveryCodes',
  AuthSecondfactorRemoveBody: 'SecondFactorCode',
  AuthOidcStartParams: 'SignInStartParams',
  AuthOidcCallbackParams: 'SignInCallbackParams',
  AuthOidcTokenBody: 'SignInCode',
  AuthOidcTokenAnswer: 'Tokens',
  DatabasesTestAnswer: 'DatabaseTest',
  DatabasesTestDraftBody: 'DatabaseDraft',
  DatabasesTestDraftAnswer: 'DatabaseTest',
  DatabasesQueryBody: 'SqlQuery',
  DatabasesQueryAnswer: 'SqlAnswer',
  DatabasesTablesItem: 'DatabaseTable',
  DatabasesPublishBody: 'Publication',
  DatabasesPublishAnswer: 'PublicationResult',
  DatasetsQueryAdvancedBody: 'DatasetQuery',
  DatasetsQueryAdvancedParams: 'DatasetQueryParams',
  DatasetsStatisticsAnswer: 'AttributeStatistics',
  DatasetsStatisticsParams: 'AttributeStatisticsParams',
  AgentInvokeDto: 'AgentInput',
  AgentInvokeResponse: 'AgentAnswer',
  AgentsWorkersItem: 'AgentWorker',
  AgentsInvocationsParams: 'AgentInvocationsParams',
  AgentsCancelAnswer: 'AgentCancellation',
  ContactpointsSendBody: 'Message',
  ContactpointsSendAnswer: 'AcceptedMessage',
  ContactpointsDeliveriesParams: 'PageParams',
  OutboxListItem: 'OutboxEntry',
  OutboxGetAnswer: 'OutboxMail',
  UsageGetParams: 'UsageParams',
  ServerConfigAnswer: 'ServerConfig',
  ServerHealthAnswer: 'ServerHealth',
  ServerLivenessAnswer: 'ServerLiveness',
  ServerReadinessAnswer: 'ServerReadiness',
  AuthConfirmsignupPathParams: 'ConfirmSignupPathParams',
  TilesTileParams: 'TileParams',
  TilesDescribeParams: 'TileSetParams',
}

/** The parameters that most resources share, by the verb of the first operation that has them. */
const sharedParameters: Readonly<Record<string, string>> = { list: 'ListParams', get: 'GetParams' }
const verbs: Readonly<Record<string, string>> = { create: 'Create', replace: 'Update', patch: 'Patch' }
/** Pages and files of the server's own sites, and what a generated type adds nothing to. */
const passedOver = /^(home|docs|mcp|sprites|fonts|basemap)\.|\.metadata\./

export function clientTypes(openApiDocument: string): string {
  const { paths, components } = JSON.parse(openApiDocument) as Document
  const declarations = new Map<string, string>()
  const declare = (name: string, type: string): unknown => declarations.set(names[name] ?? name, type)
  for (const [name, schema] of Object.entries(components.schemas)) if (!isBody(name)) declare(name, typeOf(schema))
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  for (const operation of operations.filter(({ operationId }) => !passedOver.test(operationId))) {
    declareParameters(operation, declarations, declare)
    declareBody(operation, { operations, bodies: components.schemas }, declare)
    declareAnswer(operation, declare)
  }
  return [heading, ...[...declarations].map(([name, type]) => declaration(name, type))].join('\n')
}

/** An object is an interface, which editors show by its name; everything else is an alias. */
const declaration = (name: string, type: string): string =>
  /^\{\n.*\n\}$/s.test(type) ? `export interface ${name} ${type}\n` : `export type ${name} = ${type}\n`

type Declare = (name: string, type: string) => unknown

function declareParameters(operation: ApiOperation, known: ReadonlyMap<string, string>, declare: Declare): void {
  const { operationId, parameters = [] } = operation
  const query = parameters.filter((parameter) => parameter.in === 'query')
  if (query.length === 0) return
  const type = typeOf({
    type: 'object',
    required: query.filter(({ required }) => required).map(({ name }) => name),
    properties: Object.fromEntries(
      query.map(({ name, schema, description }) => [
        name,
        { ...schema, ...(description !== undefined && { description }) },
      ]),
    ),
  })
  if ([...known.values()].includes(type)) return
  const shared = sharedParameters[operationId.split('.')[1] ?? '']
  declare(shared && !known.has(shared) ? shared : `${typeNameOf(operationId)}Params`, type)
}

/** A component that is the body of one operation: here it is named by its operation. */
const isBody = (name: string): boolean => /Body$/.test(name)

interface Declared {
  readonly operations: readonly ApiOperation[]
  readonly bodies: Readonly<Record<string, Schema>>
}

function declareBody(operation: ApiOperation, { operations: all, bodies }: Declared, declare: Declare): void {
  const { operationId, requestBody } = operation
  const written = schemaOf(requestBody)
  const name = written?.$ref?.replace(/^.*\//, '') ?? ''
  const schema = isBody(name) ? bodies[name] : written
  if (schema?.type !== 'object' || !schema.properties) return
  const [, prefix, verb = ''] = /^(.*)\.(\w+)$/.exec(operationId) ?? []
  const record = verbs[verb] && recordOf(all, `${prefix}.create`)
  if (!record) return void declare(`${typeNameOf(operationId)}Body`, typeOf(schema))
  const isPatch = verb === 'patch'
  // A patch's own schema does not say what its fields are: that is checked after the merge.
  declare(
    `${record}${verbs[verb]}`,
    isPatch ? `MergePatch<${record}${patchBase(all, prefix)}>` : typeOf(inputOf(schema)),
  )
}

const patchBase = (all: readonly ApiOperation[], prefix = ''): string =>
  all.some(({ operationId }) => operationId === `${prefix}.replace`) ? 'Update' : 'Create'

/** The record that an operation answers with: `NewApplication` is an Application. */
function recordOf(all: readonly ApiOperation[], id: string): string | undefined {
  const operation = all.find(({ operationId }) => operationId === id)
  return operation && answerOf(operation)?.$ref?.replace(/^.*\/(New)?/, '')
}

function declareAnswer(operation: ApiOperation, declare: Declare): void {
  const answer = answerOf(operation)
  const name = typeNameOf(operation.operationId)
  if (answer?.properties && Object.keys(answer.properties).length > 0) declare(`${name}Answer`, typeOf(answer))
  if (answer?.items?.properties) declare(`${name}Item`, typeOf(answer.items))
}

const answerOf = ({ responses }: ApiOperation): Schema | undefined =>
  schemaOf(Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1])

const schemaOf = (content: Content | undefined): Schema | undefined => Object.values(content?.content ?? {})[0]?.schema

/** What a client may send: the service sets the rest. */
const inputOf = (schema: Schema): Schema => ({
  ...schema,
  properties: Object.fromEntries(Object.entries(schema.properties ?? {}).filter(([, { readOnly }]) => !readOnly)),
})

function typeOf({ 'x-text-beside': language, ...schema }: Schema, indent = ''): string {
  if (language) return `${typeOf(schema, indent)} | string`
  if (schema.$ref) return nameOf(schema.$ref)
  const held = schema['x-json-schema'] ?? schema['x-text-of']
  if (held) return typeOf(held, indent)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if ('const' in schema) return JSON.stringify(schema.const)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return choices.map((one) => typeOf(one, indent)).join(' | ')
  if (schema.type === 'array') return arrayOf(schema, indent)
  if (schema.type === 'object') return objectOf(schema, indent)
  if (schema.type === 'integer') return 'number'
  return schema.type ?? 'unknown'
}

function nameOf(reference: string): string {
  const name = reference.replace(/^.*\//, '')
  return names[name] ?? name
}

function arrayOf({ items = {}, minItems, maxItems }: Schema, indent: string): string {
  const item = typeOf(items, indent)
  if (minItems !== undefined && minItems === maxItems)
    return `[${Array.from({ length: minItems }, () => item).join(', ')}]`
  return / \| /.test(item.replaceAll(/\{.*\}/gs, '')) ? `(${item})[]` : `${item}[]`
}

function objectOf(schema: Schema, indent: string): string {
  const properties = Object.entries(schema.properties ?? {})
  if (properties.length === 0) return dictionaryOf(schema)
  const inner = `${indent}  `
  const lines = properties.flatMap(([name, property]) => [
    ...(property.description ? [`${inner}/** ${property.description.replaceAll('*/', '*\\/')} */`] : []),
    `${inner}${keyOf(name)}${schema.required?.includes(name) ? '' : '?'}: ${typeOf(property, inner)}`,
  ])
  return `{\n${lines.join('\n')}\n${indent}}`
}

const keyOf = (name: string): string => (/^\w+$/.test(name) ? name : `'${name}'`)

function dictionaryOf(schema: Schema & { readonly patternProperties?: Readonly<Record<string, Schema>> }): string {
  const [value = {}] = Object.values(schema.patternProperties ?? {})
  const type = typeOf(value)
  return type === 'unknown' ? 'JsonObject' : `Record<string, ${type}>`
}
