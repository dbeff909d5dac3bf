import type { Params } from '../crud.ts'
import { path } from '../request.ts'
import type { Send, Sender } from '../send.ts'
import type {
  JsonObject,
  OutboxEntry,
  OutboxMail,
  PageParams,
  ServerConfig,
  ServerHealth,
  ServerLiveness,
  ServerReadiness,
  Usage,
  UsageParams,
} from '../types.ts'

/** Information about the server. */
export const serverGroup = ({ json: send, text }: { json: Send; text: Sender['text'] }) => ({
  config: (params?: Params) => send<ServerConfig>('GET', path`/api/v1/config`, params),
  health: (params?: Params) => send<ServerHealth>('GET', path`/api/v1/healthcheck`, params),
  /** Whether the process answers. */
  liveness: (params?: Params) => send<ServerLiveness>('GET', path`/api/v1/liveness`, params),
  /** Whether the server may get requests now; rejected with status 503 while it may not. */
  readiness: (params?: Params) => send<ServerReadiness>('GET', path`/api/v1/readiness`, params),
  /** Metrics in the Prometheus text format. */
  metrics: (params?: Params) => text<string>('GET', path`/metrics`, params),
  openapi: (params?: Params) => send<JsonObject>('GET', path`/api/v1/openapi.json`, params),
  /** What the application of the key uses; with a master key, what all of them use. */
  usage: (params?: Params<UsageParams>) => send<Usage[]>('GET', path`/api/v1/usage`, params),
  /** The mail outbox: mails that were sent, or stored because the server has no mail server. */
  outbox: {
    list: (params?: Params<PageParams>) => send<OutboxEntry[]>('GET', path`/api/v1/outbox`, params),
    get: (id: string, params?: Params) => send<OutboxMail>('GET', path`/api/v1/outbox/${id}`, params),
  },
})
