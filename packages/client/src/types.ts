// Generated from openapi.json by npm run generate; a test fails when it is stale.

/** What a JSON merge patch (RFC 7396) of these fields may say: null takes a value back to its default. */
export type MergePatch<Fields> = { [Name in keyof Fields]?: Merged<Fields[Name]> | null }
type Merged<Value> = Value extends readonly unknown[] ? Value : Value extends object ? MergePatch<Value> : Value

export type JsonObject = Record<string, unknown>

export interface Problem {
  /** A URN that names the kind of problem */
  type: string
  title: string
  status: number
  /** What is wrong with this request, and what to do */
  detail: string
  /** The path of the request */
  instance: string
  /** Never renamed: programs may rely on it */
  code: string
  /** Also in the X-Request-Id header and in the log */
  requestId: string
  errors: {
    path: string
    code: string
    message: string
  }[]
  /** The same as status */
  statusCode: number
  /** The same as detail */
  message: string
  /** The reason phrase of the status */
  error: string
}

export interface Application {
  /** Resource ID */
  id: string
  createdAt: string
  updatedAt: string
  /** Free-form, at most 64 KiB */
  metadata: JsonObject
  /** Limits that differ from those of the installation; only a master key changes them */
  limits: {
    /** Open connections; at most three quarters of all */
    applicationConnections?: number
    /** Messages to contact points */
    messagesPerMinute?: number
    /** Queries of datasets that run or are being read */
    queriesAtOnce?: number
    /** Requests of a key; a tile counts a fifth, a query of a dataset four */
    requestsPerSecond?: number
    /** Sessions, each with its refresh token */
    sessionsPerUser?: number
    /** Tables and files that are kept */
    storageBytes?: number
    /** Uploads that arrive, wait or run */
    unfinishedUploads?: number
    /** Uploads that are sent */
    uploadsPerHour?: number
  }
  name: string
  /** The streets of its base map, as BASEMAP_URL names those of the installation; null: those */
  basemap: null | string
  description: string
  /** Contact e-mail address */
  contact: string
  /** Loaded by `join=databases` */
  databases?: Database[]
}

export interface NewApplication {
  /** Resource ID */
  id: string
  createdAt: string
  updatedAt: string
  /** Free-form, at most 64 KiB */
  metadata: JsonObject
  /** Limits that differ from those of the installation; only a master key changes them */
  limits: {
    /** Open connections; at most three quarters of all */
    applicationConnections?: number
    /** Messages to contact points */
    messagesPerMinute?: number
    /** Queries of datasets that run or are being read */
    queriesAtOnce?: number
    /** Requests of a key; a tile counts a fifth, a query of a dataset four */
    requestsPerSecond?: number
    /** Sessions, each with its refresh token */
    sessionsPerUser?: number
    /** Tables and files that are kept */
    storageBytes?: number
    /** Uploads that arrive, wait or run */
    unfinishedUploads?: number
    /** Uploads that are sent */
    uploadsPerHour?: number
  }
  name: string
  /** The streets of its base map, as BASEMAP_URL names those of the installation; null: those */
  basemap: null | string
  description: string
  /** Contact e-mail address */
  contact: string
  /** Loaded by `join=databases` */
  databases?: Database[]
  /** Two API keys: one may do everything in the application, the other, for web pages, reads and queries datasets, shows maps and serves the user who signed in. They are shown here only; `GET /api/v1/apikeys` lists them later. */
  keys: {
    developer: string
    public: string
  }
}

export interface ApiKey {
  /** The key itself: whoever knows it can use it */
  id: string
  applicationId: string
  createdAt: string
  updatedAt: string
  /** Free-form, at most 64 KiB */
  metadata: JsonObject
  description: string
  type: "user" | "app" | "master"
  /** `{class: {level: ids}}`; each of the three may be `*`. The most specific entry wins. Levels are read, append, write, execute; `append`, for datasets only, adds rows and does nothing else; `write` includes it. */
  permissions: Record<string, Record<string, "*" | string[]>>
  userId: number | null
  expiresAt: string | null
  allowedOrigins: string[] | null
  /** The first digits of its SHA-256, as in the audit log */
  fingerprint: string
  lastUsedAt: string | null
  /** Loaded by `join=application` */
  application?: Application | null
  /** Loaded by `join=user` */
  user?: User | null
}

export interface User {
  /** Resource ID: a number in decimal digits */
  id: string
  applicationId: string
  createdAt: string
  updatedAt: string
  /** Free-form, at most 64 KiB */
  metadata: JsonObject
  /** An e-mail address; upper and lower case are the same */
  email: string
  firstName: string
  lastName: string
  roles: string[]
  emailVerified: boolean
  enabled: boolean
  secondFactor: boolean
  /** Only for those who may change this user and its password; empty for everybody else */
  verificationToken: string
  /** Only for those who may change this user and its password; empty for everybody else */
  passwordResetToken: string
  /** Loaded by `join=application` */
  application?: Application | null
}

export interface Role {
  /** Resource ID */
  id: string
  applicationId: string
  createdAt: string
  updatedAt: string
  /** Free-form, at most 64 KiB */
  metadata: JsonObject
  /** As it stands in `roles` of users and of rules */
  name: string
  description: string
  /** What access tokens of its users grant besides what the key behind them does, as the ACL of a key; null for nothing. A key that is sent with the token decides alone */
  permissions: Record<string, Record<string, "*" | string[]>> | null
  /** Loaded by `join=application` */
  application?: Application | null
}

export interface OidcProvider {
  /** Resource ID */
  id: string
  applicationId: string
  createdAt: string
  updatedAt: string
  /** Free-form, at most 64 KiB */
  metadata: JsonObject
  /** What a sign-in page calls it */
  name: string
  /** Its address, as its tokens name it: below it is `/.well-known/openid-configuration`. It cannot change */
  issuer: string
  clientId: string
  clientSecretSet: boolean
  scopes: string[]
  /** Names of claims, also of those within others (`realm_access.roles`). A sign-in updates the user by them */
  mapping: {
    /** By default `email` */
    email?: string
    /** By default `email_verified` */
    emailVerified?: string
    /** By default `given_name` */
    firstName?: string
    /** By default `family_name` */
    lastName?: string
    /** A list of texts, or one text. With it the provider alone decides the roles */
    roles?: string
    /** Fields of the user’s metadata, and the claims that they are taken from */
    metadata?: Record<string, string>
    /** Values that the session keeps, and the claims that they are taken from */
    claims?: Record<string, string>
  }
  /** In lower case. If there are any, only users with a verified address in one of them may come */
  emailDomains: string[]
  /** Whoever comes for the first time, with a verified address, becomes a user */
  createsUsers: boolean
  /** May sign in as the user of the same address, where the provider says that it is verified */
  linksUsers: boolean
  /** `demanded`: who has a second factor here, or must have one, shows it after the provider’s own log-in, too; `trusted`: the provider’s log-in is enough */
  secondFactor: "demanded" | "trusted"
  /** Its own access tokens (JWT) for `audience` are taken as Authorization: Bearer */
  acceptsTokens: boolean
  /** What `aud` of its access tokens must name */
  audience: string | null
  /** Switched off, it ends the sessions that come from it */
  enabled: boolean
  /** Loaded by `join=application` */
  application?: Application | null
}

export interface Style {
  /** Resource ID */
  id: string
  applicationId: string
  createdAt: string
  updatedAt: string
  /** Free-form, at most 64 KiB */
  metadata: JsonObject
  name: string
  description: string
  type: "plain"
  /** A MapLibre style, version 8 */
  style: JsonObject
  /** Loaded by `join=application` */
  application?: Application | null
}

export interface DatabaseDriver {
  name: string
  /** What people call this kind of database */
  title: string
  /** Its tables are in the platform’s own database, in the schema of the application */
  isPlatform: boolean
  /** Rows can be written and files uploaded; false: it is only read */
  isWritable: boolean
  /** Changes of its tables can be followed; outside of the platform’s database those that are written through Graticule */
  canFollow: boolean
  /** One line for a database: names of fields in braces stand for their values */
  summary: string
  /** What is listed as its tables */
  contents: string
  /** The products whose versions a test reports: that of `serverVersion`, then that of `postgisVersion` */
  engines: string[]
  /** The ways in which its databases can be given, one of which is chosen; absent: there is one. A stored record is of the first one whose `when` is true of it */
  ways?: {
    label: string
    choices: {
      name: string
      label: string
      when?: {
        field: string
        /** A regular expression */
        pattern: string
      }
    }[]
  }
  fields: {
    /** The field of the record, `host`, or a key of its metadata, `metadata.region` */
    name: string
    label: string
    /** `text` and `url` are trimmed, `password` is sent as it was typed, `choice` is one of `choices`, `lines` is a list with one item per line, `block` is text of several lines */
    kind: "text" | "url" | "password" | "integer" | "choice" | "lines" | "block"
    required: boolean
    /** Write-only: it is never shown, and left empty it stays as it is stored */
    secret: boolean
    default?: string | number
    help?: string
    placeholder?: string
    choices?: {
      value: string
      label: string
    }[]
    /** The way that it is part of; absent: of all */
    way?: string
    when?: {
      field: string
      /** A regular expression */
      pattern: string
    }
  }[]
}

export interface Database {
  /** Resource ID */
  id: string
  applicationId: string
  createdAt: string
  updatedAt: string
  /** Free-form, at most 64 KiB */
  metadata: JsonObject
  /** The driver */
  type: "internal" | "postgres" | "duckdb"
  name: string
  description: string
  /** A host name or address */
  host: string
  port: number
  user: string
  passwordSet: boolean
  /** The name of the database */
  db: string
  /** Used where no database is named; one in an application */
  default: boolean
  /** Loaded by `join=application` */
  application?: Application | null
}

export interface Dataset {
  /** Resource ID */
  id: string
  applicationId: string
  createdAt: string
  updatedAt: string
  /** Free-form, at most 64 KiB */
  metadata: JsonObject
  ownerId: number | null
  type: "table" | "sql" | "rest" | "lambda"
  source: string
  name: string
  description: string
  attributes: {
    name: string
    type: "string" | "integer" | "number" | "boolean" | "date" | "datetime" | "time" | "uuid" | "json" | "array" | "binary" | "geometry"
    /** The type in the words of the database */
    dbType: string
    /** Of a domain: the type that it limits; `record` of a composite type */
    baseType?: string
    nullable: boolean
    primaryKey: boolean
    description: string
    /** What rows get that have no value, as an expression of the database */
    default?: string
    /** `always`: only the database gives values, which cannot be written; `byDefault`: it counts them up where none is given */
    generated?: "always" | "byDefault"
    geometryType?: string
    srid?: number
    dimension?: number
    /** Geometries with several reference systems were seen; srid is the most frequent one */
    hasSystems?: boolean
    /** No reference system is known, and the coordinates are no longitudes and latitudes: metadata.srid has to state one */
    isOutsideDegrees?: boolean
  }[]
  bytes: number | null
  /** About how many rows a table had when it was uploaded or this record last stored; null where that is not known */
  rowEstimate: number | null
  /** What becomes of the overviews of a large table, from which low zooms of maps are drawn; null: there are none */
  overviews: {
    status: "pending" | "building" | "built" | "failed"
    progress: number
  } | null
  /** The default database unless it is given */
  databaseId: string
  /** Narrow what keys grant on the rows: a caller for whom no rule fits sees none, several rules add up. null: no rules. Hidden from callers who are bound by them */
  rules: {
    /** For users with any of these roles; for every user without it */
    roles?: string[]
    /** `anyone`: also for keys that stand for no user, where `rulesFor` is `all` */
    users?: "signed-in" | "anyone"
    levels: ("read" | "append" | "change" | "delete")[]
    /** The rows, as a filter. Values may be `$user.id`, `$user.email`, `$user.roles`, `$user.metadata.…`, `$claims.…` and `$key.metadata.…`; a comparison with one that the caller does not have is false. `$$` begins a text with a dollar */
    where?: JsonObject
    /** The attributes that are seen, or may be written; all without it */
    attributes?: string[]
    /** Values that the server writes, whatever is sent. They may be of the caller, as in `where` */
    set?: JsonObject
  }[] | null
  /** Whom rules bind: `users`, and keys of users; `all`: also keys that stand for no user */
  rulesFor: "users" | "all"
  /** Loaded by `join=application` */
  application?: Application | null
  /** Loaded by `join=database` */
  database?: Database | null
  /** Loaded by `join=owner` */
  owner?: User | null
}

export interface Query {
  /** Resource ID */
  id: string
  applicationId: string
  createdAt: string
  updatedAt: string
  /** Free-form, at most 64 KiB */
  metadata: JsonObject
  name: string
  description: string
  sql: string
  /** null: the default database */
  databaseId: string | null
  /** Loaded by `join=application` */
  application?: Application | null
}

export interface Agent {
  /** Resource ID */
  id: string
  applicationId: string
  createdAt: string
  updatedAt: string
  /** Free-form, at most 64 KiB */
  metadata: JsonObject
  name: string
  description: string
  type: "remote" | "openai" | "anthropic" | "ollama" | "http"
  config: JsonObject
  enabled: boolean
  maxConcurrency: number | null
  /** Until the first output */
  timeoutMs: number
  /** Between outputs */
  idleTimeoutMs: number
  /** Until the end */
  maxDurationMs: number
  model: string | null
  datasetIds: string[] | null
  /** Keep inputs and outputs in the history */
  storeContent: boolean
  memory: "none" | "platform"
  status: "online" | "draining" | "offline"
  workers: number
  capacity: number
  inFlight: number
  /** Loaded by `join=application` */
  application?: Application | null
}

export interface AgentInput {
  /** Required: what to ask the agent, a text that is not empty */
  input?: unknown
  /** Groups turns; stays with one worker if it can */
  conversationId?: string
  /** Earlier turns */
  messages?: {
    role: "user" | "assistant"
    content: string
  }[]
  /** What the user sees: bbox, center, zoom, datasetIds … */
  context?: JsonObject
  options?: {
    model?: string
    temperature?: number
    maxOutputTokens?: number
  }
  metadata?: Record<string, string>
  /** Until the first output; only lowers the agent’s */
  timeoutMs?: number
}

export interface AgentAnswer {
  invocationId: string
  output: string
  /** The same as output */
  text: string
  finishReason: string
  model: string
  /** Tokens and cost, as far as known */
  usage: JsonObject
  durationMs: number
  conversationId?: string
  artifacts?: JsonObject[]
}

export interface AgentInvocation {
  id: string
  agentId: string
  applicationId: string
  createdAt: string
  conversationId: string | null
  userId: number | null
  workerId: string | null
  mode: "invoke" | "stream"
  status: "running" | "succeeded" | "failed" | "cancelled"
  statusCode: number | null
  errorCode: string | null
  ttfbMs: number | null
  durationMs: number | null
  inputBytes: number
  outputBytes: number | null
  usage: unknown
  model: string | null
  finishReason: string | null
  traceId: string | null
  /** Only with write on the agent */
  metadata: unknown
  /** Only where the agent stores content, and only with write on the agent */
  input: string | null
  /** Only where the agent stores content, and only with write on the agent */
  output: string | null
}

export interface Delivery {
  id: string
  status: "pending" | "delivered" | "failed"
  attempts: {
    at: string
    statusCode?: number
    error?: string
  }[]
  createdAt: string
}

export interface ContactPoint {
  /** Resource ID */
  id: string
  applicationId: string
  createdAt: string
  updatedAt: string
  /** Free-form, at most 64 KiB */
  metadata: JsonObject
  name: string
  description: string
  /** The driver */
  type: "discord" | "email" | "googlechat" | "slack" | "teams" | "telegram" | "webhook"
  /** What the driver needs. Secrets are not returned; one that is left out stays, null removes it. */
  settings: JsonObject
  /** The secrets that are set */
  secureFields: Record<string, boolean>
  enabled: boolean
  lastDeliveryAt: string | null
  lastStatus: "delivered" | "failed" | null
  /** Loaded by `join=application` */
  application?: Application | null
}

export interface ChangeBindings {
  bindings: {
    /** Of the application of the contact point */
    datasetId: string
    /** Only what these did; all by default */
    operations: ("insert" | "update" | "delete" | "truncate")[]
    /** Only rows that match, in the grammar of `filter` in queries, as they are when the delivery is made. Deletions pass, and so do changes whose keys are not known. Needs a primary key of one column of type integer, string or uuid */
    filter: JsonObject | null
    /** West, south, east, north: only statements that wrote in this box, or whose place is not known */
    bbox: [number, number, number, number] | null
    /** Gathers the changes of so many seconds, from the first one on, into one delivery; 0 by default */
    debounceSeconds: number
    /** Up to this event of the change feed the contact point was told. Read-only */
    lastEventId: string
    /** Why changes are not told, or not filtered. Read-only: what is written is ignored */
    problem: string | null
  }[]
}

export interface ChangeBindingsUpdate {
  /** At most 20 */
  bindings: {
    /** Of the application of the contact point */
    datasetId: string
    /** Only what these did; all by default */
    operations?: ("insert" | "update" | "delete" | "truncate")[]
    /** Only rows that match, in the grammar of `filter` in queries, as they are when the delivery is made. Deletions pass, and so do changes whose keys are not known. Needs a primary key of one column of type integer, string or uuid */
    filter?: JsonObject | null
    /** West, south, east, north: only statements that wrote in this box, or whose place is not known */
    bbox?: [number, number, number, number] | null
    /** Gathers the changes of so many seconds, from the first one on, into one delivery; 0 by default */
    debounceSeconds?: number
    /** Up to this event of the change feed the contact point was told. Read-only */
    lastEventId?: string
    /** Why changes are not told, or not filtered. Read-only: what is written is ignored */
    problem?: string | null
  }[]
}

export interface TileSource {
  /** Resource ID */
  id: string
  applicationId: string
  createdAt: string
  updatedAt: string
  /** Free-form, at most 64 KiB */
  metadata: JsonObject
  type: "dataset" | "tilelive"
  /** The id of a dataset, or where tiles are */
  source: string
  /** What maps call it; else as its data */
  name: string
  attribution: string
  /** The lowest zoom that has tiles; found out when absent */
  minZoom: number
  /** The highest zoom that has tiles; found out when absent */
  maxZoom: number
  /** West, south, east, north; found out when absent */
  extentLngLat: [number, number, number, number]
  /** Sent with each tile */
  headers: Record<string, string>
  /** Loaded by `join=application` */
  application?: Application | null
}

export interface UploadForm {
  file: string
  /** Of the text in a Shapefile, CSV or JSON, whatever the file says; such as windows-1251 */
  encoding?: string
  /** The dataset that gets these data instead of its own */
  datasetId?: string
  /** Of the dataset; else that of the file, or of the layer where there are several */
  name?: string
  description?: string
  /** Shown on maps */
  attribution?: string
  /** The reference system of the coordinates, whatever the file says: 3067, EPSG:3067 or its URN */
  sourceSrid?: number | string
  /** The reference system of the table; 4326 unless given */
  targetSrid?: number | string
  /** Only this one of several */
  layer?: string
  /** Of a table: none; a column of geometries or of pairs (`where`, `where:lat,lon`); two columns, longitude or easting first (`lon,lat`); or the sides of a box (`west,south,east,north`). Of other formats: none */
  geometry?: string
  /** Of columns of a table, as JSON: the others are found by their values */
  types?: Record<string, "string" | "integer" | "number" | "boolean" | "date" | "datetime" | "time" | "uuid" | "json">
  /** Of dates such as 01.02.2024 in a table */
  dateOrder?: "dmy" | "mdy" | "ymd"
  /** What stands before decimals in a table */
  decimal?: "," | "."
  /** Values of a table that stand for nothing; as JSON, or divided by commas */
  nulls?: string[]
  /** Whether the first row of a CSV or a sheet, below titles, names the columns; else its values tell it */
  header?: boolean
  /** Fail at the first row that cannot be loaded, instead of skipping up to 1 % of them */
  strict?: boolean
}

export interface Upload {
  /** Resource ID */
  id: string
  applicationId: string
  createdAt: string
  updatedAt: string
  /** Free-form, at most 64 KiB */
  metadata: JsonObject
  ownerId: number | null
  /** As the client called it */
  fileName: string
  /** An opaque name */
  path: string
  options: JsonObject
  /** In bytes */
  size: number
  status: "pending" | "processing" | "completed" | "failed" | "cancelled"
  stage: "unpacking" | "scanning" | "loading" | "transforming" | "indexing" | "overviews" | "publishing" | null
  progress: number
  overviews: {
    status: "pending" | "building" | "built" | "failed"
    progress: number
  } | null
  /** Empty until the upload has failed */
  error: {
    code?: string
    message?: string
    /** The number of the feature, from 1 */
    feature?: number
    line?: number
    layer?: string
    /** The field of the upload that does not fit the file */
    field?: string
  }
  warnings: {
    code: string
    message: string
    /** The number of features it is true of */
    count?: number
    layer?: string
  }[]
  /** One for each layer */
  results: {
    layer: string
    datasetId: string | null
    tileSourceId: string | null
    featureCount: number | null
  }[]
  datasetId: string | null
  tileSourceId: string | null
  featureCount: number | null
  startedAt: string | null
  finishedAt: string | null
  /** Loaded by `join=application` */
  application?: Application | null
  /** Loaded by `join=owner` */
  owner?: User | null
}

export interface UploadPreview {
  fileName: string
  /** In bytes */
  size: number
  /** Null where the file cannot be read */
  format: string | null
  layers: {
    layer: string
    /** Of the dataset */
    name: string
    columns: {
      /** As in the file */
      name: string
      /** As in the table */
      column: string
      /** As attributes of datasets have it, and as the field types takes it */
      type: string
      /** The type in the words of the database */
      dbType: string
    }[]
    geometry: {
      /** Such as Point or MultiPolygonZ */
      type: string
      /** Of a table: those that it is read from */
      columns: string[]
      /** The reference system of the file; null where it is known by its text only */
      srid: number | null
      /** The reference system of the table */
      targetSrid: number
    } | null
    /** What all this was found by */
    rowsRead: number
    /** Whether these are all rows; else later ones may change types and add warnings */
    isWhole: boolean
    /** The first ten, by the columns of the table, geometries as GeoJSON in WGS 84. Texts are cut at 500 characters; a geometry of more than 64 kB is null */
    rows: JsonObject[]
    /** The columns with values that were cut or left out */
    shortened: string[]
    warnings: {
      code: string
      message: string
      /** The number of features it is true of */
      count?: number
      layer?: string
    }[]
  }[]
  /** Empty until the upload has failed */
  error: {
    code?: string
    message?: string
    /** The number of the feature, from 1 */
    feature?: number
    line?: number
    layer?: string
    /** The field of the upload that does not fit the file */
    field?: string
  }
}

export interface AppConfig {
  /** Resource ID */
  id: string
  applicationId: string
  createdAt: string
  updatedAt: string
  /** Any JSON object, at most 1 MiB. The key `svc` is reserved for the server. */
  config: JsonObject
  /** Loaded by `join=application` */
  application?: Application | null
}

export interface Usage {
  applicationId: string
  /** Of the application */
  name: string
  storage: {
    /** Tables and files together */
    bytes: number
    /** Tables in the default database, with indexes and overviews */
    tableBytes: number
    /** Tile archives and files of databases */
    fileBytes: number
    /** Of datasets in the default database, as last estimated */
    rows: number
  }
  uploads: {
    running: number
    waiting: number
  }
  /** How many there are, by kind: the kinds that the key may read whole */
  records: Record<string, number>
  /** Of this application; null: no limit */
  limits: {
    /** Open connections; at most three quarters of all */
    applicationConnections: number | null
    /** Messages to contact points */
    messagesPerMinute: number | null
    /** Queries of datasets that run or are being read */
    queriesAtOnce: number | null
    /** Requests of a key; a tile counts a fifth, a query of a dataset four */
    requestsPerSecond: number | null
    /** Sessions, each with its refresh token */
    sessionsPerUser: number | null
    /** Tables and files that are kept */
    storageBytes: number | null
    /** Uploads that arrive, wait or run */
    unfinishedUploads: number | null
    /** Uploads that are sent */
    uploadsPerHour: number | null
  }
  today: {
    /** Requests with a key or token of the application */
    requests: number
    /** Those of them that were over a limit: 413 and 429 */
    refused: number
    /** Bytes of their answers, as sent, with headers */
    bytesOut: number
    /** Tiles from memory */
    tilesCached: number
    /** Tiles that had to be made, or read from an archive */
    tilesMade: number
    /** Seconds that making them took */
    tileSeconds: number
    /** Queries of datasets, exports and statistics */
    queries: number
    /** Seconds that they ran or were read */
    querySeconds: number
    /** Files that were taken */
    uploads: number
    /** Invocations of agents that ended */
    invocations: number
    /** Messages that contact points delivered */
    messages: number
    /** Mails of the application that were delivered */
    mails: number
  }
  month: {
    /** Requests with a key or token of the application */
    requests: number
    /** Those of them that were over a limit: 413 and 429 */
    refused: number
    /** Bytes of their answers, as sent, with headers */
    bytesOut: number
    /** Tiles from memory */
    tilesCached: number
    /** Tiles that had to be made, or read from an archive */
    tilesMade: number
    /** Seconds that making them took */
    tileSeconds: number
    /** Queries of datasets, exports and statistics */
    queries: number
    /** Seconds that they ran or were read */
    querySeconds: number
    /** Files that were taken */
    uploads: number
    /** Invocations of agents that ended */
    invocations: number
    /** Messages that contact points delivered */
    messages: number
    /** Mails of the application that were delivered */
    mails: number
  }
  /** The days or months that were asked for, in order; those without use are left out */
  periods: {
    start: string
    /** Requests with a key or token of the application */
    requests: number
    /** Those of them that were over a limit: 413 and 429 */
    refused: number
    /** Bytes of their answers, as sent, with headers */
    bytesOut: number
    /** Tiles from memory */
    tilesCached: number
    /** Tiles that had to be made, or read from an archive */
    tilesMade: number
    /** Seconds that making them took */
    tileSeconds: number
    /** Queries of datasets, exports and statistics */
    queries: number
    /** Seconds that they ran or were read */
    querySeconds: number
    /** Files that were taken */
    uploads: number
    /** Invocations of agents that ended */
    invocations: number
    /** Messages that contact points delivered */
    messages: number
    /** Mails of the application that were delivered */
    mails: number
  }[]
}

export interface AuditEntry {
  /** Resource ID */
  id: string
  applicationId: string | null
  at: string
  /** Who did it */
  actorType: "key" | "user" | "master" | "anonymous" | "command" | "system"
  actorId: string | null
  userId: number | null
  /** The id of the operation, such as `styles.replace` */
  action: string
  /** What it was done to, such as `styles` */
  targetType: string
  targetId: string | null
  targetName: string | null
  /** The status of the answer; from 400 on it was refused */
  status: number
  requestId: string | null
  address: string | null
  userAgent: string | null
  /** The names of the fields that were set */
  changed: string[]
}

export interface ListParams {
  /** The fields to return; all of them by default */
  fields?: string[]
  /** The related resources to load */
  join?: string[]
  /** Conditions: `filter[name]=x`, `filter[name][$like]=a%`, or the JSON text of them */
  filter?: JsonObject
  /** The fields to sort by; a leading `-` sorts downwards */
  sort?: string[]
  /** The size of the page: 1000 by default, 10000 at most */
  limit?: number
  /** How many to skip, 1000000 at most. To go further, sort by a field and filter by its last value (keyset paging): sort=createdAt&filter[createdAt][$gte]=… */
  offset?: number
}

export interface ApplicationCreate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  /** Limits that differ from those of the installation; only a master key changes them */
  limits?: {
    /** Open connections; at most three quarters of all */
    applicationConnections?: number
    /** Messages to contact points */
    messagesPerMinute?: number
    /** Queries of datasets that run or are being read */
    queriesAtOnce?: number
    /** Requests of a key; a tile counts a fifth, a query of a dataset four */
    requestsPerSecond?: number
    /** Sessions, each with its refresh token */
    sessionsPerUser?: number
    /** Tables and files that are kept */
    storageBytes?: number
    /** Uploads that arrive, wait or run */
    unfinishedUploads?: number
    /** Uploads that are sent */
    uploadsPerHour?: number
  }
  name: string
  /** The streets of its base map, as BASEMAP_URL names those of the installation; null: those */
  basemap?: null | string
  description?: string
  /** Contact e-mail address */
  contact?: string
}

export interface GetParams {
  /** The fields to return; all of them by default */
  fields?: string[]
  /** The related resources to load */
  join?: string[]
}

export interface ApplicationUpdate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  /** Limits that differ from those of the installation; only a master key changes them */
  limits?: {
    /** Open connections; at most three quarters of all */
    applicationConnections?: number
    /** Messages to contact points */
    messagesPerMinute?: number
    /** Queries of datasets that run or are being read */
    queriesAtOnce?: number
    /** Requests of a key; a tile counts a fifth, a query of a dataset four */
    requestsPerSecond?: number
    /** Sessions, each with its refresh token */
    sessionsPerUser?: number
    /** Tables and files that are kept */
    storageBytes?: number
    /** Uploads that arrive, wait or run */
    unfinishedUploads?: number
    /** Uploads that are sent */
    uploadsPerHour?: number
  }
  name?: string
  /** The streets of its base map, as BASEMAP_URL names those of the installation; null: those */
  basemap?: null | string
  description?: string
  /** Contact e-mail address */
  contact?: string
}

export type ApplicationPatch = MergePatch<ApplicationUpdate>

export interface ApiKeyCreate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  description?: string
  type: "user" | "app" | "master"
  /** `{class: {level: ids}}`; each of the three may be `*`. The most specific entry wins. Levels are read, append, write, execute; `append`, for datasets only, adds rows and does nothing else; `write` includes it. */
  permissions: Record<string, Record<string, "*" | string[]>>
  userId?: number | string | null
  expiresAt?: string | null
  allowedOrigins?: string[] | null
}

export interface Access {
  /** Null for a master key without `x-application-id`: it reaches every application */
  application: {
    id: string
    name: string
  } | null
  type: "user" | "app" | "master"
  /** Of the key, or of the one that the access token stands for */
  description: string
  /** `{class: {level: ids}}`; each of the three may be `*`. The most specific entry wins. Levels are read, append, write, execute; `append`, for datasets only, adds rows and does nothing else; `write` includes it. */
  permissions: Record<string, Record<string, "*" | string[]>>
  /** When the credentials end: the key, or an access token that came without one if that is sooner */
  expiresAt: string | null
  allowedOrigins: string[] | null
  /** The user of the access token, or of a key of type `user` */
  user: {
    /** Resource ID: a number in decimal digits */
    id: string
    email: string
    firstName: string
    lastName: string
    roles: string[]
  } | null
}

export interface SignInToken {
  token: string
}

export interface SignedIn {
  apiKey: string
  applicationId: string
}

export interface UserCreate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  /** An e-mail address; upper and lower case are the same */
  email: string
  firstName?: string
  lastName?: string
  password?: string | null
  roles?: string[]
  emailVerified?: boolean
  enabled?: boolean
  secondFactor?: boolean
}

export interface UserUpdate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  /** An e-mail address; upper and lower case are the same */
  email?: string
  firstName?: string
  lastName?: string
  password?: string | null
  roles?: string[]
  emailVerified?: boolean
  enabled?: boolean
  secondFactor?: boolean
}

export type UserPatch = MergePatch<UserUpdate>

export interface RoleCreate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  /** As it stands in `roles` of users and of rules */
  name: string
  description?: string
  /** What access tokens of its users grant besides what the key behind them does, as the ACL of a key; null for nothing. A key that is sent with the token decides alone */
  permissions?: Record<string, Record<string, "*" | string[]>> | null
}

export interface RoleUpdate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  /** As it stands in `roles` of users and of rules */
  name?: string
  description?: string
  /** What access tokens of its users grant besides what the key behind them does, as the ACL of a key; null for nothing. A key that is sent with the token decides alone */
  permissions?: Record<string, Record<string, "*" | string[]>> | null
}

export type RolePatch = MergePatch<RoleUpdate>

export interface Login {
  email: string
  password: string
  applicationId: string
  code?: string
}

export interface Tokens {
  /** A JWT, to be sent as Authorization: Bearer TOKEN */
  accessToken: string
  /** Opaque; gives new access tokens */
  refreshToken: string
}

export interface AuthRefreshParams {
  /** Replace the refresh token too */
  rotate?: boolean
}

export interface Refresh {
  refreshToken: string
  applicationId: string
}

export interface Logout {
  refreshToken: string
}

export interface OpenSession {
  id: string
  startedAt: string
  /** When it last asked for an access token, to a minute */
  seenAt: string
  expiresAt: string
  /** What the browser or program called itself when it logged in */
  userAgent: string
  /** The one that asks */
  isCurrent: boolean
}

export interface PasswordChange {
  password: string
  newPassword: string
}

export interface PasswordResetRequest {
  email: string
  applicationId: string
  redirectUrl: string
}

export interface PasswordReset {
  email: string
  password: string
  applicationId: string
  token: string
}

export interface SecondFactorStart {
  email: string
  password: string
  applicationId: string
}

export interface SecondFactorSecret {
  /** Base32, to be typed into an authenticator app */
  secret: string
  /** otpauth://…, to be shown as a QR code */
  uri: string
}

export interface SecondFactorCode {
  email: string
  password: string
  applicationId: string
  code: string
}

export interface RecoveryCodes {
  recoveryCodes: string[]
}

export interface Signup {
  firstName: string
  lastName: string
  /** An e-mail address; upper and lower case are the same */
  email: string
  password: string
  applicationId: string
  confirmUrl: string
  redirectUrl: string
}

export interface ConfirmSignupParams {
  token: string
  redirect: string
  /** If given, it must match */
  email?: string
}

export interface ConfirmSignupPathParams {
  /** If given, it must match */
  email?: string
}

export interface SignInStartParams {
  /** The page to return to, which metadata.auth.redirectUrls of the application must allow */
  redirect: string
  /** A PKCE challenge (S256) of that page: BASE64URL(SHA256(verifier)) */
  challenge: string
}

export interface SignInCallbackParams {
  /** As it was sent to the provider */
  state: string
  /** The authorization code */
  code?: string
  /** The issuer that answers (RFC 9207) */
  iss?: string
  /** Why there is no code */
  error?: string
  /** The same, for people */
  error_description?: string
}

export interface SignInCode {
  code: string
  verifier: string
  secondFactor?: string
}

export interface KeySet {
  keys: JsonObject[]
}

export interface OidcProviderCreate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  /** What a sign-in page calls it */
  name: string
  /** Its address, as its tokens name it: below it is `/.well-known/openid-configuration`. It cannot change */
  issuer: string
  clientId: string
  /** Never returned; null for a public client */
  clientSecret?: string | null
  scopes?: string[]
  /** Names of claims, also of those within others (`realm_access.roles`). A sign-in updates the user by them */
  mapping?: {
    /** By default `email` */
    email?: string
    /** By default `email_verified` */
    emailVerified?: string
    /** By default `given_name` */
    firstName?: string
    /** By default `family_name` */
    lastName?: string
    /** A list of texts, or one text. With it the provider alone decides the roles */
    roles?: string
    /** Fields of the user’s metadata, and the claims that they are taken from */
    metadata?: Record<string, string>
    /** Values that the session keeps, and the claims that they are taken from */
    claims?: Record<string, string>
  }
  /** In lower case. If there are any, only users with a verified address in one of them may come */
  emailDomains?: string[]
  /** Whoever comes for the first time, with a verified address, becomes a user */
  createsUsers?: boolean
  /** May sign in as the user of the same address, where the provider says that it is verified */
  linksUsers?: boolean
  /** `demanded`: who has a second factor here, or must have one, shows it after the provider’s own log-in, too; `trusted`: the provider’s log-in is enough */
  secondFactor?: "demanded" | "trusted"
  /** Its own access tokens (JWT) for `audience` are taken as Authorization: Bearer */
  acceptsTokens?: boolean
  /** What `aud` of its access tokens must name */
  audience?: string | null
  /** Switched off, it ends the sessions that come from it */
  enabled?: boolean
}

export interface OidcProviderUpdate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  /** What a sign-in page calls it */
  name?: string
  /** Its address, as its tokens name it: below it is `/.well-known/openid-configuration`. It cannot change */
  issuer?: string
  clientId?: string
  /** Never returned; null for a public client */
  clientSecret?: string | null
  scopes?: string[]
  /** Names of claims, also of those within others (`realm_access.roles`). A sign-in updates the user by them */
  mapping?: {
    /** By default `email` */
    email?: string
    /** By default `email_verified` */
    emailVerified?: string
    /** By default `given_name` */
    firstName?: string
    /** By default `family_name` */
    lastName?: string
    /** A list of texts, or one text. With it the provider alone decides the roles */
    roles?: string
    /** Fields of the user’s metadata, and the claims that they are taken from */
    metadata?: Record<string, string>
    /** Values that the session keeps, and the claims that they are taken from */
    claims?: Record<string, string>
  }
  /** In lower case. If there are any, only users with a verified address in one of them may come */
  emailDomains?: string[]
  /** Whoever comes for the first time, with a verified address, becomes a user */
  createsUsers?: boolean
  /** May sign in as the user of the same address, where the provider says that it is verified */
  linksUsers?: boolean
  /** `demanded`: who has a second factor here, or must have one, shows it after the provider’s own log-in, too; `trusted`: the provider’s log-in is enough */
  secondFactor?: "demanded" | "trusted"
  /** Its own access tokens (JWT) for `audience` are taken as Authorization: Bearer */
  acceptsTokens?: boolean
  /** What `aud` of its access tokens must name */
  audience?: string | null
  /** Switched off, it ends the sessions that come from it */
  enabled?: boolean
}

export type OidcProviderPatch = MergePatch<OidcProviderUpdate>

export interface StyleCreate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  name: string
  description?: string
  type?: "plain"
  /** A MapLibre style, version 8 */
  style: JsonObject
}

export interface StyleUpdate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  name?: string
  description?: string
  type?: "plain"
  /** A MapLibre style, version 8 */
  style?: JsonObject
}

export type StylePatch = MergePatch<StyleUpdate>

export interface StylesGetPictureAnswer {
  picture: string | null
}

export interface StylesSetPictureBody {
  picture: string | null
}

export interface StylesSetPictureAnswer {
  picture: string | null
}

export interface PlacesSearchParams {
  /** The beginning of a name, in any of its languages; a country may follow */
  q: string
  /** `longitude,latitude`: places near it come first */
  near?: string
  /** At most 50 */
  limit?: number
}

export interface PlacesSearchAnswer {
  places: {
    name: string
    matched: string | null
    kind: "country" | "region" | "city" | "address"
    country: string | null
    countryName: string | null
    population: number | null
    /** Longitude and latitude */
    position: [number, number]
    bounds: [number, number, number, number] | null
    /** A zoom of maps that shows it */
    zoom: number
    source: "gazetteer" | "geocoder"
  }[]
  /** To be shown where the places are */
  attribution: string
  /** False if the geocoder failed */
  isComplete: boolean
}

export interface DatabasesDriversParams {
  /** Objects in place of names: what each can do, and the fields of its form */
  details?: boolean
}

export interface DatabaseDraft {
  /** The record that is to be changed */
  id?: string
  /** Set by the service; ignored when given */
  applicationId?: unknown
  /** Set by the service; ignored when given */
  createdAt?: unknown
  /** Set by the service; ignored when given */
  updatedAt?: unknown
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  /** The driver */
  type: "internal" | "postgres" | "duckdb"
  name: string
  description?: string
  /** A host name or address */
  host?: string
  port?: number
  user?: string
  password?: string | null
  /** Set by the service; ignored when given */
  passwordSet?: unknown
  /** `postgres://user:password@host:port/db?sslmode=require` in place of host, port, user, password, db and metadata.ssl. It is taken apart and not kept */
  connectionString?: string
  /** The name of the database */
  db?: string
  /** Used where no database is named; one in an application */
  default?: boolean
  /** Set by the service; ignored when given */
  application?: unknown
}

export interface DatabaseTest {
  ok: boolean
  latencyMs: number
  serverVersion?: string
  postgisVersion?: string
  error?: {
    code: string
    message: string
  }
}

export interface DatabasesTablesParams {
  /** Only the tables of this schema */
  schema?: string
  limit?: number
  /** How many to skip, 1000000 at most. To see others, give `schema`. */
  offset?: number
}

export interface DatabaseTable {
  schema: string
  name: string
  /** How a dataset names it */
  source: string
  kind: "table" | "view" | "materialized view" | "partitioned table" | "foreign table"
  /** An estimate; null where the server has none */
  rows: number | null
  /** The first of them */
  geometryColumn: string | null
  /** `Geometry` where the column takes any */
  geometryType: string | null
  /** null where the column does not say */
  srid: number | null
  comment: string
  /** A dataset of this table that the key may read */
  datasetId: string | null
}

export interface Publication {
  /** `name` or `schema.name`; all that there are unless given */
  tables?: string[]
  /** Only the tables of this schema */
  schema?: string
}

export interface PublicationResult {
  published: {
    table: string
    datasetId: string
    name: string
  }[]
  skipped: {
    table: string
    /** `already_published`, `not_reached`, or why the dataset was refused */
    code: string
    message: string
    datasetId?: string
  }[]
}

export interface DatabaseCreate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  /** The driver */
  type: "internal" | "postgres" | "duckdb"
  name: string
  description?: string
  /** A host name or address */
  host?: string
  port?: number
  user?: string
  password?: string | null
  /** `postgres://user:password@host:port/db?sslmode=require` in place of host, port, user, password, db and metadata.ssl. It is taken apart and not kept */
  connectionString?: string
  /** The name of the database */
  db?: string
  /** Used where no database is named; one in an application */
  default?: boolean
}

export interface DatabaseUpdate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  /** The driver */
  type?: "internal" | "postgres" | "duckdb"
  name?: string
  description?: string
  /** A host name or address */
  host?: string
  port?: number
  user?: string
  password?: string | null
  /** `postgres://user:password@host:port/db?sslmode=require` in place of host, port, user, password, db and metadata.ssl. It is taken apart and not kept */
  connectionString?: string
  /** The name of the database */
  db?: string
  /** Used where no database is named; one in an application */
  default?: boolean
}

export type DatabasePatch = MergePatch<DatabaseUpdate>

export interface DatasetsListParams {
  /** The fields to return; all of them by default */
  fields?: string[]
  /** The related resources to load */
  join?: string[]
  /** Conditions: `filter[name]=x`, `filter[name][$like]=a%`, or the JSON text of them */
  filter?: JsonObject
  /** The fields to sort by; a leading `-` sorts downwards */
  sort?: string[]
  /** The size of the page: 1000 by default, 10000 at most */
  limit?: number
  /** How many to skip, 1000000 at most. To go further, sort by a field and filter by its last value (keyset paging): sort=createdAt&filter[createdAt][$gte]=… */
  offset?: number
  /** Datasets with any of these metadata.tags */
  tags?: string[]
}

export interface DatasetCreate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  ownerId?: number | string | null
  type: "table" | "sql" | "rest" | "lambda"
  source: string
  name: string
  description?: string
  /** The default database unless it is given */
  databaseId?: string
  secrets?: {
    headers?: Record<string, string>
  } | null
  /** Narrow what keys grant on the rows: a caller for whom no rule fits sees none, several rules add up. null: no rules. Hidden from callers who are bound by them */
  rules?: {
    /** For users with any of these roles; for every user without it */
    roles?: string[]
    /** `anyone`: also for keys that stand for no user, where `rulesFor` is `all` */
    users?: "signed-in" | "anyone"
    levels: ("read" | "append" | "change" | "delete")[]
    /** The rows, as a filter. Values may be `$user.id`, `$user.email`, `$user.roles`, `$user.metadata.…`, `$claims.…` and `$key.metadata.…`; a comparison with one that the caller does not have is false. `$$` begins a text with a dollar */
    where?: JsonObject
    /** The attributes that are seen, or may be written; all without it */
    attributes?: string[]
    /** Values that the server writes, whatever is sent. They may be of the caller, as in `where` */
    set?: JsonObject
  }[] | null
  /** Whom rules bind: `users`, and keys of users; `all`: also keys that stand for no user */
  rulesFor?: "users" | "all"
  /** Makes the table that `source` names, in the application’s own database. Without a primary key it gets a numbered column `id`. It is deleted with the dataset. */
  columns?: {
    /** At most 63 bytes of UTF-8 */
    name: string
    type?: "string" | "integer" | "number" | "boolean" | "date" | "datetime" | "time" | "uuid" | "json" | "array" | "binary" | "geometry"
    /** A narrower type than `type` stands for, such as `integer`, `numeric(10,2)`, `character varying(20)`, `integer[]` */
    dbType?: string
    nullable?: boolean
    primaryKey?: boolean
    description?: string
    /** The value of rows that have none */
    default?: unknown
    geometryType?: "Geometry" | "Point" | "LineString" | "Polygon" | "MultiPoint" | "MultiLineString" | "MultiPolygon" | "GeometryCollection"
    srid?: number
    dimension?: number
  }[]
}

export interface DatasetUpdate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  ownerId?: number | string | null
  type?: "table" | "sql" | "rest" | "lambda"
  source?: string
  name?: string
  description?: string
  /** The default database unless it is given */
  databaseId?: string
  secrets?: {
    headers?: Record<string, string>
  } | null
  /** Narrow what keys grant on the rows: a caller for whom no rule fits sees none, several rules add up. null: no rules. Hidden from callers who are bound by them */
  rules?: {
    /** For users with any of these roles; for every user without it */
    roles?: string[]
    /** `anyone`: also for keys that stand for no user, where `rulesFor` is `all` */
    users?: "signed-in" | "anyone"
    levels: ("read" | "append" | "change" | "delete")[]
    /** The rows, as a filter. Values may be `$user.id`, `$user.email`, `$user.roles`, `$user.metadata.…`, `$claims.…` and `$key.metadata.…`; a comparison with one that the caller does not have is false. `$$` begins a text with a dollar */
    where?: JsonObject
    /** The attributes that are seen, or may be written; all without it */
    attributes?: string[]
    /** Values that the server writes, whatever is sent. They may be of the caller, as in `where` */
    set?: JsonObject
  }[] | null
  /** Whom rules bind: `users`, and keys of users; `all`: also keys that stand for no user */
  rulesFor?: "users" | "all"
}

export type DatasetPatch = MergePatch<DatasetUpdate>

export interface DatasetsDeleteParams {
  /** Leave the table that an upload made. Its tile sources go all the same. */
  keepData?: boolean
}

export interface DatasetsQueryParams {
  /** What the answer is; Accept is asked otherwise */
  format?: "json" | "geojson" | "csv" | "ndjson" | "fgb" | "gpkg" | "parquet" | "shp" | "kml" | "xlsx"
  /** Answer how the query would be carried out, instead of rows */
  explain?: boolean
  /** In milliseconds; 300000 at most */
  timeout?: number
  /** Makes the answer a download of this name */
  filename?: string
  /** `exact` or `estimated`: X-Total-Count says how many rows there are without limit and offset, and Link where the other pages are. A dataset’s own parameter of this name comes first */
  count?: string
  /** Continues behind the rows of a page: the `cursor` of its `Link` with rel="next". Empty for the first page. Needs a dataset with a primary key and a limit of at most 1000, which is its default. A dataset’s own parameter of this name comes first */
  cursor?: string
  /** Of geometries in json, csv, fgb, gpkg, shp, xlsx; 4326 otherwise */
  srid?: number
  /** The attributes to return, or aggregates of them */
  attributes?: string[]
  /** Conditions on attributes, such as (for the sample dataset) `filter[country]=Finland`, `filter[population][$gte]=1000000`, `filter[name][$iLike]=san%`, or the JSON text of them: `filter={"geom":{"$bbox":[-10,35,30,60]}}`, `filter={"$or":[{"capital":true},{"population":{"$gte":5000000}}]}` */
  filter?: JsonObject | string
  /** The language of `filter`, if it is not the one above: `cql2-text` or `cql2-json`, such as `filter-lang=cql2-text&filter=population > 1000000 AND name LIKE 'San%'`. Geometries are in longitude and latitude. */
  'filter-lang'?: string
  /** Rows whose time meets this year, month, day, hour or instant, or the period between two of them: `2024`, `2024-03`, `2024-01/2024-03`, `2024-03-31T12:00:00Z/..`. A year, month, day or hour counts as a whole; without a zone times are in UTC. `metadata.time` of the dataset names the attribute, or two as `{start, end}`; it may be left out where there is only one date or datetime. A dataset’s own parameter of this name comes first */
  time?: string
  /** Counts the rows by cell: `h3:auto` or `h3:0` to `h3:15` (hexagons of H3), `grid:auto` or `grid:0` to `grid:26` (squares of the web mercator grid of that level) or `cluster` (points that stand for all around). `auto` and clusters depend on the zoom. A dataset’s own parameter of this name comes first */
  aggregate?: string
  /** With `aggregate`: what is told of each cell beside `count`: `sum(x)`, `avg(x)`, `min(x)` or `max(x)` of a numeric attribute, as `avg_x`. A dataset’s own parameter of this name comes first */
  value?: string[]
  /** With `aggregate`: the zoom of a map that `auto` and clusters are made for */
  zoom?: number
  /** The attributes to sort by; `-` in front sorts downwards */
  sort?: string[]
  limit?: number
  /** How many to skip, 1000000 at most. To go further, page by `cursor` (keyset paging), which costs the same for every page. */
  offset?: number
}

export interface DatasetQueryParams {
  /** What the answer is; Accept is asked otherwise */
  format?: "json" | "geojson" | "csv" | "ndjson" | "fgb" | "gpkg" | "parquet" | "shp" | "kml" | "xlsx"
  /** Answer how the query would be carried out, instead of rows */
  explain?: boolean
  /** In milliseconds; 300000 at most */
  timeout?: number
  /** Makes the answer a download of this name */
  filename?: string
  /** `exact` or `estimated`: X-Total-Count says how many rows there are without limit and offset, and Link where the other pages are. A dataset’s own parameter of this name comes first */
  count?: string
  /** Continues behind the rows of a page: the `cursor` of its `Link` with rel="next". Empty for the first page. Needs a dataset with a primary key and a limit of at most 1000, which is its default. A dataset’s own parameter of this name comes first */
  cursor?: string
  /** Of geometries in json, csv, fgb, gpkg, shp, xlsx; 4326 otherwise */
  srid?: number
}

export interface DatasetQuery {
  /** The attributes to return, or aggregates such as `sum(pop) as total` */
  attributes?: string[]
  where?: JsonObject
  /** Rows whose time meets this year, month, day, hour or instant, or the period between two of them: `2024`, `2024-03`, `2024-01/2024-03`, `2024-03-31T12:00:00Z/..`. A year, month, day or hour counts as a whole; without a zone times are in UTC. `metadata.time` of the dataset names the attribute, or two as `{start, end}`; it may be left out where there is only one date or datetime. A dataset’s own parameter of this name comes first */
  time?: string
  /** Counts the rows by cell: `h3:auto` or `h3:0` to `h3:15` (hexagons of H3), `grid:auto` or `grid:0` to `grid:26` (squares of the web mercator grid of that level) or `cluster` (points that stand for all around). `auto` and clusters depend on the zoom. A dataset’s own parameter of this name comes first */
  aggregate?: string
  /** With `aggregate`: what is told of each cell beside `count`: `sum(x)`, `avg(x)`, `min(x)` or `max(x)` of a numeric attribute, as `avg_x`. A dataset’s own parameter of this name comes first */
  value?: string[]
  /** With `aggregate`: the zoom of a map that `auto` and clusters are made for */
  zoom?: number
  /** The attributes to sort by; `-` in front sorts downwards */
  order?: string[]
  /** The attributes to group by */
  group?: string[]
  sample?: {
    percentage: number
    method?: string
    seed?: number
  }
  limit?: number
  /** How many to skip, 1000000 at most. To go further, page by `cursor` (keyset paging), which costs the same for every page. */
  offset?: number
  /** Continues behind the rows of a page: the `cursor` of its `Link` with rel="next". Empty for the first page. Needs a dataset with a primary key and a limit of at most 1000, which is its default. A dataset’s own parameter of this name comes first */
  cursor?: string
  /** DISTINCT ON these attributes */
  distinct?: string[]
  /** Nearest to a point [longitude, latitude] or GeoJSON geometry first, with the distance in metres as a column. Add $dwithin to where: it says how far to look, and uses the index. */
  nearest?: {
    /** The geometry; the first otherwise */
    attribute?: string
    point?: [number, number]
    geometry?: JsonObject
    as?: string
  }
}

export interface AttributeStatisticsParams {
  /** Conditions on attributes, such as (for the sample dataset) `filter[country]=Finland`, `filter[population][$gte]=1000000`, `filter[name][$iLike]=san%`, or the JSON text of them: `filter={"geom":{"$bbox":[-10,35,30,60]}}`, `filter={"$or":[{"capital":true},{"population":{"$gte":5000000}}]}` */
  filter?: JsonObject | string
  /** The language of `filter`, if it is not the one above: `cql2-text` or `cql2-json`, such as `filter-lang=cql2-text&filter=population > 1000000 AND name LIKE 'San%'`. Geometries are in longitude and latitude. */
  'filter-lang'?: string
  /** Rows whose time meets this year, month, day, hour or instant, or the period between two of them: `2024`, `2024-03`, `2024-01/2024-03`, `2024-03-31T12:00:00Z/..`. A year, month, day or hour counts as a whole; without a zone times are in UTC. `metadata.time` of the dataset names the attribute, or two as `{start, end}`; it may be left out where there is only one date or datetime. A dataset’s own parameter of this name comes first */
  time?: string
  /** Into how many equally large parts the quantiles divide the values; 100 for percentiles */
  quantiles?: number
  /** How many bins a histogram has at most. Those of dates and times begin and end with years, months, weeks, days or hours */
  bins?: number
  /** Of a date or datetime: what each bin of the histogram is, whatever `bins` says; 1000 at most */
  interval?: "year" | "month" | "day" | "hour"
  /** In milliseconds; 300000 at most */
  timeout?: number
}

export interface AttributeStatistics {
  attribute: string
  type: "string" | "integer" | "number" | "boolean" | "date" | "datetime" | "time" | "uuid" | "json" | "array" | "binary" | "geometry"
  /** How many rows there are; of very large tables what the database expects */
  rows: {
    count: number
    isEstimate: boolean
  }
  /** How many values are not null */
  count: number
  /** How many are */
  nulls: number
  /** How many different values there are; an estimate when `sampled` */
  distinct: number | null
  /** Texts in the order of their code points */
  min: string | number | null
  /** Texts of more than 200 characters are cut, here and elsewhere, and end with … */
  max: string | number | null
  /** Of numbers; of those in the sample when `sampled` */
  mean: number | null
  /** Of numbers, dates and times: the share `p` of the values is at most `value` */
  quantiles: {
    p: number
    value: string | number
  }[]
  /** Of numbers and dates: how many values are at least `from` and below `to`; the last bin has `to` too */
  histogram: {
    from: string | number
    to: string | number
    count: number
  }[]
  /** The most frequent values, at most 20 */
  frequent: {
    value: string | number | boolean
    count: number
  }[]
  /** Quantiles, histogram, frequent values and mean are those of a sample, their counts too */
  sampled: boolean
  /** How many rows they are of */
  sampleSize: number
}

export interface DatabasesQueryParams {
  /** In milliseconds; 300000 at most */
  timeout?: number
}

export interface SqlQuery {
  /** One SELECT, as of a dataset of type `sql` */
  sql: string
  limit?: number
  /** The plan in place of the rows */
  explain?: boolean
}

export interface SqlAnswer {
  attributes?: {
    name: string
    type: "string" | "integer" | "number" | "boolean" | "date" | "datetime" | "time" | "uuid" | "json" | "array" | "binary" | "geometry"
    /** The type in the words of the database */
    dbType: string
    /** Of a domain: the type that it limits; `record` of a composite type */
    baseType?: string
    nullable: boolean
    primaryKey: boolean
    description: string
    /** What rows get that have no value, as an expression of the database */
    default?: string
    /** `always`: only the database gives values, which cannot be written; `byDefault`: it counts them up where none is given */
    generated?: "always" | "byDefault"
    geometryType?: string
    srid?: number
    dimension?: number
    /** Geometries with several reference systems were seen; srid is the most frequent one */
    hasSystems?: boolean
    /** No reference system is known, and the coordinates are no longitudes and latitudes: metadata.srid has to state one */
    isOutsideDegrees?: boolean
  }[]
  rows?: JsonObject[]
  /** With `explain`, in place of the others */
  plan?: unknown
}

export interface DatasetsTryRulesBody {
  /** Narrow what keys grant on the rows: a caller for whom no rule fits sees none, several rules add up. null: no rules. Hidden from callers who are bound by them */
  rules?: {
    /** For users with any of these roles; for every user without it */
    roles?: string[]
    /** `anyone`: also for keys that stand for no user, where `rulesFor` is `all` */
    users?: "signed-in" | "anyone"
    levels: ("read" | "append" | "change" | "delete")[]
    /** The rows, as a filter. Values may be `$user.id`, `$user.email`, `$user.roles`, `$user.metadata.…`, `$claims.…` and `$key.metadata.…`; a comparison with one that the caller does not have is false. `$$` begins a text with a dollar */
    where?: JsonObject
    /** The attributes that are seen, or may be written; all without it */
    attributes?: string[]
    /** Values that the server writes, whatever is sent. They may be of the caller, as in `where` */
    set?: JsonObject
  }[] | null
  /** A user of the application. Needs read on users */
  userId?: number | string
  /** Somebody who need not be there. Without userId too: nobody */
  user?: {
    email?: string
    /** The roles */
    roles?: string[]
    metadata?: JsonObject
  }
}

export interface DatasetsTryRulesAnswer {
  /** How many rows are seen */
  count: number
  /** How many there are */
  total: number
  /** The attributes that are seen */
  attributes: string[]
  /** The first 10 of them */
  rows: JsonObject[]
  /** Whether rows may be added, if they fit the rules */
  mayAppend: boolean
  /** How many rows may be changed */
  mayChange: number
  /** How many rows may be deleted */
  mayDelete: number
}

export interface QueryCreate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  name: string
  description?: string
  sql: string
  /** null: the default database */
  databaseId?: string | null
}

export interface QueryUpdate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  name?: string
  description?: string
  sql?: string
  /** null: the default database */
  databaseId?: string | null
}

export type QueryPatch = MergePatch<QueryUpdate>

export interface DatasetsChangesParams {
  /** The same as the header Last-Event-ID, for clients that cannot set it. The header comes first */
  lastEventId?: string
}

export interface DatasetsInsertRowsParams {
  /** `ignore` keeps a row that has the same key, `update` gives it the values that are sent; otherwise 409 */
  onConflict?: "ignore" | "update"
  /** Makes geometries valid that are not, and adds or drops heights as the column needs */
  repair?: boolean
}

export interface DatasetsChangeRowsParams {
  /** Conditions on attributes, such as (for the sample dataset) `filter[country]=Finland`, `filter[population][$gte]=1000000`, `filter[name][$iLike]=san%`, or the JSON text of them: `filter={"geom":{"$bbox":[-10,35,30,60]}}`, `filter={"$or":[{"capital":true},{"population":{"$gte":5000000}}]}` */
  filter?: JsonObject | string
  /** The language of `filter`, if it is not the one above: `cql2-text` or `cql2-json`, such as `filter-lang=cql2-text&filter=population > 1000000 AND name LIKE 'San%'`. Geometries are in longitude and latitude. */
  'filter-lang'?: string
  /** How many rows the filter matches. If it matches another number: 409, and nothing is changed */
  expect: number
  /** Makes geometries valid that are not, and adds or drops heights as the column needs */
  repair?: boolean
}

export type DatasetsChangeRowsBody = JsonObject

export interface DatasetsChangeRowsAnswer {
  count: number
}

export interface DatasetsDeleteRowsParams {
  /** Conditions on attributes, such as (for the sample dataset) `filter[country]=Finland`, `filter[population][$gte]=1000000`, `filter[name][$iLike]=san%`, or the JSON text of them: `filter={"geom":{"$bbox":[-10,35,30,60]}}`, `filter={"$or":[{"capital":true},{"population":{"$gte":5000000}}]}` */
  filter?: JsonObject | string
  /** The language of `filter`, if it is not the one above: `cql2-text` or `cql2-json`, such as `filter-lang=cql2-text&filter=population > 1000000 AND name LIKE 'San%'`. Geometries are in longitude and latitude. */
  'filter-lang'?: string
  /** How many rows the filter matches. If it matches another number: 409, and nothing is changed */
  expect: number
}

export interface DatasetsDeleteRowsAnswer {
  count: number
}

export interface DatasetsChangeRowParams {
  /** Makes geometries valid that are not, and adds or drops heights as the column needs */
  repair?: boolean
}

export type DatasetsChangeRowBody = JsonObject

export type DatasetsPutRowBody = JsonObject

export interface DatasetsAddColumnBody {
  /** At most 63 bytes of UTF-8 */
  name: string
  type?: "string" | "integer" | "number" | "boolean" | "date" | "datetime" | "time" | "uuid" | "json" | "array" | "binary" | "geometry"
  /** A narrower type than `type` stands for, such as `integer`, `numeric(10,2)`, `character varying(20)`, `integer[]` */
  dbType?: string
  nullable?: boolean
  primaryKey?: boolean
  description?: string
  /** The value of rows that have none */
  default?: unknown
  geometryType?: "Geometry" | "Point" | "LineString" | "Polygon" | "MultiPoint" | "MultiLineString" | "MultiPolygon" | "GeometryCollection"
  srid?: number
  dimension?: number
}

export interface DatasetsChangeColumnParams {
  /** What becomes of values that cannot be converted */
  onLoss?: "refuse" | "null"
}

export interface DatasetsChangeColumnBody {
  /** At most 63 bytes of UTF-8 */
  name?: string
  type?: "string" | "integer" | "number" | "boolean" | "date" | "datetime" | "time" | "uuid" | "json" | "array" | "binary" | "geometry"
  /** A narrower type than `type` stands for, such as `integer`, `numeric(10,2)`, `character varying(20)`, `integer[]` */
  dbType?: string
  description?: string
  nullable?: boolean
  /** The value of rows that have none */
  default?: unknown
}

export interface DatasetsColumnConversionParams {
  type?: "string" | "integer" | "number" | "boolean" | "date" | "datetime" | "time" | "uuid" | "json" | "array" | "binary" | "geometry"
  /** A narrower type than `type` stands for, such as `integer`, `numeric(10,2)`, `character varying(20)`, `integer[]` */
  dbType?: string
}

export interface DatasetsColumnConversionAnswer {
  /** How many are not null */
  values: number
  /** How many would become null, being none of the new type */
  lost: number
  /** How many would be written in another way, such as rounded or without their time */
  changed: number
  examples: {
    from: string
    to: string | null
  }[]
  /** Whether the column has a default, which goes unless it is given anew */
  dropsDefault: boolean
}

export interface AgentCreate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  name?: string
  description?: string
  type?: "remote" | "openai" | "anthropic" | "ollama" | "http"
  config?: JsonObject
  secrets?: JsonObject | null
  enabled?: boolean
  maxConcurrency?: number | null
  /** Until the first output */
  timeoutMs?: number
  /** Between outputs */
  idleTimeoutMs?: number
  /** Until the end */
  maxDurationMs?: number
  model?: string | null
  datasetIds?: string[] | null
  /** Keep inputs and outputs in the history */
  storeContent?: boolean
  memory?: "none" | "platform"
}

export interface AgentUpdate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  name?: string
  description?: string
  type?: "remote" | "openai" | "anthropic" | "ollama" | "http"
  config?: JsonObject
  secrets?: JsonObject | null
  enabled?: boolean
  maxConcurrency?: number | null
  /** Until the first output */
  timeoutMs?: number
  /** Between outputs */
  idleTimeoutMs?: number
  /** Until the end */
  maxDurationMs?: number
  model?: string | null
  datasetIds?: string[] | null
  /** Keep inputs and outputs in the history */
  storeContent?: boolean
  memory?: "none" | "platform"
}

export type AgentPatch = MergePatch<AgentUpdate>

export interface AgentWorker {
  connectionId: string
  /** The name that the worker gives itself */
  workerId: string
  status: "online" | "draining"
  capacity: number
  inFlight: number
  version: string | null
  sdk: string | null
  connectedAt: string
}

export interface AgentInvocationsParams {
  /** 100 unless it is given; 1000 at most */
  limit?: number
  /** How many to skip, 1000000 at most. To see others, give `status` or `conversationId`. */
  offset?: number
  status?: "running" | "succeeded" | "failed" | "cancelled"
  conversationId?: string
}

export interface AgentCancellation {
  id: string
  status: string
}

export interface Message {
  /** What to say; services with a limit get the beginning of it */
  message?: string
  /** The same as message */
  text?: string
  /** The same as message */
  body?: string
  /** One line; the subject of an e-mail */
  title?: string
  /** The same as title */
  subject?: string
  severity?: "info" | "success" | "warning" | "error"
  /** Where to read more: http or https */
  url?: string
  /** Webhooks get it as it is; others only if there is no message */
  data?: JsonObject
  /** Of the addresses of an e-mail contact point only these */
  to?: string[]
}

export interface AcceptedMessage {
  id: string
  status: "accepted"
}

export interface PageParams {
  /** 100 by default, 1000 at most */
  limit?: number
  /** How many to skip, 1000000 at most. */
  offset?: number
}

export interface ContactPointCreate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  name: string
  description?: string
  /** The driver */
  type: "discord" | "email" | "googlechat" | "slack" | "teams" | "telegram" | "webhook"
  /** What the driver needs. Secrets are not returned; one that is left out stays, null removes it. */
  settings: JsonObject
  enabled?: boolean
}

export interface ContactPointUpdate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  name: string
  description?: string
  /** The driver */
  type: "discord" | "email" | "googlechat" | "slack" | "teams" | "telegram" | "webhook"
  /** What the driver needs. Secrets are not returned; one that is left out stays, null removes it. */
  settings: JsonObject
  enabled?: boolean
}

export type ContactPointPatch = MergePatch<ContactPointUpdate>

export interface OutboxEntry {
  id: string
  applicationId: string
  createdAt: string
  /** `confirm`, `reset`, or `message` for one of a contact point */
  template: string
  to: string[]
  /** null once the mail is sent */
  subject: string | null
  /** `kept`: there is no mail server */
  status: "pending" | "delivered" | "failed" | "kept"
  attempts: {
    at: string
    statusCode?: number
    error?: string
  }[]
}

export interface OutboxMail {
  id: string
  applicationId: string
  createdAt: string
  /** `confirm`, `reset`, or `message` for one of a contact point */
  template: string
  to: string[]
  /** null once the mail is sent */
  subject: string | null
  /** `kept`: there is no mail server */
  status: "pending" | "delivered" | "failed" | "kept"
  attempts: {
    at: string
    statusCode?: number
    error?: string
  }[]
  text: string | null
  html: string | null
}

export interface TileSourceCreate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  type: "dataset" | "tilelive"
  /** The id of a dataset, or where tiles are */
  source: string
  /** What maps call it; else as its data */
  name?: string
  attribution?: string
  /** The lowest zoom that has tiles; found out when absent */
  minZoom?: number
  /** The highest zoom that has tiles; found out when absent */
  maxZoom?: number
  /** West, south, east, north; found out when absent */
  extentLngLat?: [number, number, number, number]
  /** Sent with each tile */
  headers?: Record<string, string>
}

export interface TileSourceUpdate {
  /** Free-form, at most 64 KiB */
  metadata?: JsonObject
  type?: "dataset" | "tilelive"
  /** The id of a dataset, or where tiles are */
  source?: string
  /** What maps call it; else as its data */
  name?: string
  attribution?: string
  /** The lowest zoom that has tiles; found out when absent */
  minZoom?: number
  /** The highest zoom that has tiles; found out when absent */
  maxZoom?: number
  /** West, south, east, north; found out when absent */
  extentLngLat?: [number, number, number, number]
  /** Sent with each tile */
  headers?: Record<string, string>
}

export type TileSourcePatch = MergePatch<TileSourceUpdate>

export interface TileParams {
  /** Answer how the tile is made, instead of the tile */
  explain?: boolean
  /** The attributes that the features have */
  attributes?: string[]
  /** Conditions on attributes, such as (for the sample dataset) `filter[country]=Finland`, `filter[population][$gte]=1000000`, `filter[name][$iLike]=san%`, or the JSON text of them: `filter={"geom":{"$bbox":[-10,35,30,60]}}`, `filter={"$or":[{"capital":true},{"population":{"$gte":5000000}}]}` */
  filter?: JsonObject | string
  /** The language of `filter`, if it is not the one above: `cql2-text` or `cql2-json`, such as `filter-lang=cql2-text&filter=population > 1000000 AND name LIKE 'San%'`. Geometries are in longitude and latitude. */
  'filter-lang'?: string
  /** Rows whose time meets this year, month, day, hour or instant, or the period between two of them: `2024`, `2024-03`, `2024-01/2024-03`, `2024-03-31T12:00:00Z/..`. A year, month, day or hour counts as a whole; without a zone times are in UTC. `metadata.time` of the dataset names the attribute, or two as `{start, end}`; it may be left out where there is only one date or datetime. A dataset’s own parameter of this name comes first */
  time?: string
  /** Counts the rows by cell: `h3:auto` or `h3:0` to `h3:15` (hexagons of H3), `grid:auto` or `grid:0` to `grid:26` (squares of the web mercator grid of that level) or `cluster` (points that stand for all around). `auto` and clusters depend on the zoom. A dataset’s own parameter of this name comes first */
  aggregate?: string
  /** With `aggregate`: what is told of each cell beside `count`: `sum(x)`, `avg(x)`, `min(x)` or `max(x)` of a numeric attribute, as `avg_x`. A dataset’s own parameter of this name comes first */
  value?: string[]
  /** At most so many features */
  limit?: number
  /** The version of the data, as the TileJSON says it: the tile may then be kept for an hour */
  'tile-version'?: string
  /** Ignored: a version, for caches */
  v?: string
  /** Ignored: for caches */
  _?: string
}

export interface TileSetParams {
  /** The attributes that the features have */
  attributes?: string[]
  /** Conditions on attributes, such as (for the sample dataset) `filter[country]=Finland`, `filter[population][$gte]=1000000`, `filter[name][$iLike]=san%`, or the JSON text of them: `filter={"geom":{"$bbox":[-10,35,30,60]}}`, `filter={"$or":[{"capital":true},{"population":{"$gte":5000000}}]}` */
  filter?: JsonObject | string
  /** The language of `filter`, if it is not the one above: `cql2-text` or `cql2-json`, such as `filter-lang=cql2-text&filter=population > 1000000 AND name LIKE 'San%'`. Geometries are in longitude and latitude. */
  'filter-lang'?: string
  /** Rows whose time meets this year, month, day, hour or instant, or the period between two of them: `2024`, `2024-03`, `2024-01/2024-03`, `2024-03-31T12:00:00Z/..`. A year, month, day or hour counts as a whole; without a zone times are in UTC. `metadata.time` of the dataset names the attribute, or two as `{start, end}`; it may be left out where there is only one date or datetime. A dataset’s own parameter of this name comes first */
  time?: string
  /** Counts the rows by cell: `h3:auto` or `h3:0` to `h3:15` (hexagons of H3), `grid:auto` or `grid:0` to `grid:26` (squares of the web mercator grid of that level) or `cluster` (points that stand for all around). `auto` and clusters depend on the zoom. A dataset’s own parameter of this name comes first */
  aggregate?: string
  /** With `aggregate`: what is told of each cell beside `count`: `sum(x)`, `avg(x)`, `min(x)` or `max(x)` of a numeric attribute, as `avg_x`. A dataset’s own parameter of this name comes first */
  value?: string[]
  /** At most so many features */
  limit?: number
  /** The version of the data, as the TileJSON says it: the tile may then be kept for an hour */
  'tile-version'?: string
  /** Ignored: a version, for caches */
  v?: string
  /** Ignored: for caches */
  _?: string
}

export interface UploadsCreateParams {
  /** Answer what would be made of the file (UploadPreview), and make nothing */
  dryRun?: boolean
}

export interface AppConfigCreate {
  /** Any JSON object, at most 1 MiB. The key `svc` is reserved for the server. */
  config?: JsonObject
}

export type AppConfigPatch = MergePatch<AppConfigCreate>

export interface UsageParams {
  /** The first day, such as 2027-01-31, in UTC; 30 days up to `to` by default */
  from?: string
  /** The last day; today by default */
  to?: string
  /** What a period is; `day` by default */
  interval?: "day" | "month"
  /** `filter[applicationId]=…`: a master key reads many */
  filter?: JsonObject
  /** Applications in a page: 100 by default and at most */
  limit?: number
  /** How many to skip, 1000000 at most. */
  offset?: number
}

export interface ServerConfig {
  version: {
    /** The release */
    tag: string
    /** The commit */
    hash: string
    /** When it was made, in milliseconds since 1970 */
    timestamp: number
  }
  limits: {
    /** The largest JSON body; styles and configuration may have more */
    bodyBytes: number
    /** The largest file of an upload */
    uploadBytes: number
    /** How many uploads of an application may be unfinished */
    unfinishedUploads: number
    /** How many uploads an application may send within an hour; null: no limit */
    uploadsPerHour: number | null
    /** How many messages an application may send to its contact points within a minute; null: no limit */
    messagesPerMinute: number | null
    /** How many sessions a user may have; one more ends the oldest */
    sessionsPerUser: number
    /** Tables and files that an application may keep; null: no limit */
    storageBytes: number | null
    /** The longest `timeout` of a query in the default database */
    queryTimeoutMs: number
    /** How many queries of datasets an application may run at once, in each replica */
    queriesAtOnce: number
    /** How many connections the clients of an application may have open, in each replica */
    applicationConnections: number
    /** How many requests a second a key may send; a tile counts a fifth, a query four; null: no limit */
    requestsPerSecond: number | null
    /** The most features in a tile */
    tileFeatures: number
    /** The largest tile, uncompressed */
    tileBytes: number
    /** The largest input of an agent */
    agentInputBytes: number
    /** The largest answer of an agent */
    agentOutputBytes: number
  }
}

export interface ServerHealth {
  status: string
  /** `ok`, or `busy` when it answered the last time and has not answered yet this time */
  database: string
}

export interface ServerLiveness {
  status: string
}

export interface ServerReadiness {
  status: "ready" | "unready"
  /** All of them are `ok` or `busy` when the server is ready */
  checks: {
    process: "ok" | "stopping"
    /** `busy`: it answered the last time and has not answered yet this time */
    database: "ok" | "busy" | "unavailable"
    /** Whether the database has all migrations of this version */
    migrations: "ok" | "missing" | "unknown"
    /** Whether the server’s role has all rights that it needs; PostgreSQL only */
    rights?: "ok" | "missing" | "unknown"
    /** PostgreSQL only */
    postgis?: "ok" | "missing" | "unknown"
    /** Whether roles of applications can log in; PostgreSQL only */
    tenants?: "ok" | "refused" | "unknown"
    /** The disk of DATA_DIR, and that of the database */
    storage: "ok" | "full" | "unwritable"
    /** Polling, sweeps and other work in the background */
    work: "ok" | "failing"
    /** Only where NATS_URL is set */
    bus?: "ok" | "disconnected"
  }
  /** While it is not: what each check lacks. `npm start -- doctor` prints what mends it */
  reasons?: string[]
}

export interface AuditListParams {
  /** The fields to return; all of them by default */
  fields?: string[]
  /** Conditions: `filter[name]=x`, `filter[name][$like]=a%`, or the JSON text of them */
  filter?: JsonObject
  /** The size of the page: 1000 by default, 10000 at most */
  limit?: number
  /** `-at`, the newest first, unless given */
  sort?: "at" | "-at"
  /** Of the Link to the next page */
  cursor?: string
  /** `ndjson` (an object in each line) and `csv` stream all that the filter lets through, unless `limit` is given */
  format?: "json" | "ndjson" | "csv"
}
