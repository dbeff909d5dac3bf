/** An endpoint as a declaration: its address, who may call it, what it takes and answers, and the handler. */
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { Static, TObject, TSchema } from 'typebox'
import type { FaultCollector } from '../../kernel/errors.ts'
import type { JsonBudget } from '../../kernel/json/json-budget.ts'
import type { Caller, Scope } from '../access/acl.ts'
import type { Trail } from '../access/audit-trail.ts'
import type { ReadToolToken } from '../access/authenticate.ts'
import type { AclClass, AclLevel } from '../access/grants.ts'
import type { QueryTree } from './input/query-string.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

/** Path and query parameters of a request, before its body is read. */
export type RequestTarget = { params: Readonly<Record<string, string>>; query: QueryTree }

/** Who may call: anybody, any key, or a key whose ACL grants the level on the class and on the id in the address. */
export type Access =
  | 'public'
  | 'key'
  | {
      class: AclClass
      /** A function where one path has two meanings. */
      level: AclLevel | ((address: RequestTarget) => AclLevel)
      /** Only master keys, whatever the ACL says. */
      master?: boolean
      /** The id that the ACL is asked for; the path's `id` by default. */
      id?: (address: RequestTarget, caller: Caller) => string | undefined
    }

export type ContextOf<A extends Access, S> = {
  request: FastifyRequest
  /** The services of the area: database, caches, threads. `services.ts` lists them all. */
  services: S
  tree: QueryTree
  /** The entry of the audit log, if there will be one; a handler says here what only it knows. */
  trail?: Trail | undefined
  /**
   * Aborted when the client disconnects or its credential is revoked. Pass it to everything that waits for more than the
   * platform's own rows. It is created when it is first read, so read it late.
   */
  readonly signal: AbortSignal
} & (A extends 'public' ? object : A extends 'key' ? { caller: Caller } : { caller: Caller; scope: Scope })

type NowContext<S> = Pick<ContextOf<'public', S>, 'services' | 'tree'> & { headers: IncomingHttpHeaders }

/**
 * The response. Names of headers are in lower case. A body is sent as JSON unless it is a stream or bytes; `json` is already
 * serialized. `isKept`: the body is the same object in every such answer, so its compressed form can be cached.
 */
export type Answer = {
  status?: number
  headers?: Readonly<Record<string, string>>
  body?: unknown
  json?: string
  isKept?: boolean
}

/**
 * Begins an answer that takes a moment; false sends the request the usual way. Otherwise `done` is called once, later, and nothing
 * instead of an answer sends the request the usual way then.
 */
export type BegunAnswer = (done: (answer: Answer | undefined) => void) => boolean

type NameIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NameIn<Rest> : never

/** The parameters that a path names: `/styles/{id}` has `id`. */
export type PathParameters<Path extends string> = string extends Path
  ? Readonly<Record<string, string>>
  : { readonly [Name in NameIn<Path>]: string }

type Declaration<A extends Access, Q extends TObject, B extends TSchema, P extends string, S> = {
  /** `styles.list`: the name in OpenAPI and in the client. */
  id: string
  method: Method
  /** `/api/v1/styles/{id}` */
  path: P
  /** Only addresses whose `id` looks like this (a regular expression); another operation may have the rest. */
  idPattern?: string
  /** The last parameter is the rest of the path, slashes too. */
  isRestOfPath?: boolean
  summary: string
  description?: string
  access: A
  query?: Q
  /** The record may define further query parameters; then the handler refuses unknown ones. */
  ownParameters?: boolean
  body?: B
  bodyLimit?: number | undefined
  /** A multipart form in place of a JSON body; the operation reads it from the request itself. */
  multipart?: TObject
  /** The operation reads and counts the bytes of its body itself: JSON, with all digits that were sent, or a text of these media types. */
  readsText?: readonly string[]
  /** What a JSON body may hold, counted while it arrives: `bodyBudget` by default, and nothing is counted where the operation reads it. */
  budget?: JsonBudget | undefined
  /** The property of the body whose keys are column names of a tenant, which may be anything. */
  columnsIn?: string
  /** Repairs texts that cannot be stored instead of refusing them, because people paste such texts. */
  repairsText?: boolean
  /** Needs an access token too, because the operation is about the calling user. */
  bearer?: boolean
  /** Admits the tool token of an invocation in place of a key. */
  readToolToken?: (token: string, services: S) => ReturnType<ReadToolToken>
  /**
   * The audit log has an entry for every operation that is no GET, and for a GET where this is true, or `ifSecret` and its
   * answer shows a secret. `none` says why an operation has no entry.
   */
  audit?: true | 'ifSecret' | { readonly none: string } | undefined
  /** The path holds a credential: it is kept out of the log. */
  secretPath?: boolean
  /** What a request counts for the rate limit of its key: 1 by default, of a tile a fifth, of a query four. */
  weight?: number
  /** The answer is a tile: no browser shows it as a document, so it goes without the headers that guard documents. */
  isTile?: boolean
  /**
   * The answer as `handle` would give it, if it takes next to nothing; undefined sends the request the usual way, and so
   * does an error. A function is called if the request may go on. It must change nothing unless it answers. Only for GET.
   */
  answerNow?: (
    context: NowContext<S> & (A extends 'public' | 'key' ? object : { scope: Scope }),
    params: PathParameters<P>,
  ) => Answer | undefined | BegunAnswer
  /** The successful answer. */
  success: {
    status: number
    /** Another status that the same answer may have. */
    otherStatus?: number
    description: string
    schema?: TSchema
    contentType?: string
    /** What the answer may be besides, as a file. */
    fileTypes?: readonly string[]
    headers?: readonly string[]
  }
  /** Statuses beyond those that every operation can answer. */
  failures?: readonly number[]
  /** The JSON body of failures with these statuses in place of problem+json, such as that of a protocol inside HTTP. */
  ownFailure?: { statuses: readonly number[]; schema: TSchema }
  /**
   * Refuses before the body is read what can be refused without it: 404 for a record that does not exist, 401 for further rights
   * that the operation needs. Whoever may not do it then costs no more than a look-up, whatever is sent.
   */
  beforeBody?: (context: ContextOf<A, S>, params: PathParameters<P>) => unknown
  /**
   * Where the input does not fit its schemas: adds the faults that only `handle` would find, so that a client gets all at once. The body is
   * as it came.
   */
  addFaults?: (
    context: ContextOf<A, S>,
    input: { params: PathParameters<P>; body: unknown },
    faults: FaultCollector,
  ) => Promise<void>
  handle: (
    context: ContextOf<A, S>,
    input: { params: PathParameters<P>; query: Static<Q>; body: Static<B> },
  ) => Answer | Promise<Answer>
}

/** An endpoint as data: routes, checks, OpenAPI and the contract tests all read it. It needs nothing until it is called. */
export type Operation<Services = unknown> = Declaration<Access, TObject, TSchema, string, Services>

/** An operation whose declaration is only read, so that its services do not matter. */
export type DeclaredOperation = Operation<never>

type Declare<S> = <const A extends Access, Q extends TObject, B extends TSchema, const P extends string>(
  declaration: Declaration<A, Q, B, P, S>,
) => Operation<S>

/** Gives `handle` the types of what the declaration promises, and the services that its area names. */
export const operationUsing =
  <S>(): Declare<S> =>
  (declaration) =>
    declaration as unknown as Operation<S>

/** What a query of a dataset counts for the rate limit of a key. */
export const queryWeight = 4

/** An operation that needs no services. */
export const operation = operationUsing<unknown>()
