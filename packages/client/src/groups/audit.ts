import type { Params } from '../crud.ts'
import { nextCursor } from '../next-cursor.ts'
import { path } from '../request.ts'
import type { Sender } from '../send.ts'
import type { AuditEntry, AuditListParams } from '../types.ts'

type Listing = Params<Omit<AuditListParams, 'fields' | 'format'>>

/** One page of the audit log. */
export interface AuditPage {
  entries: AuditEntry[]
  /** The cursor of the next page; null on the last page. */
  next: string | null
}

/** The audit log: who did what, when and from where. Newest first. */
export function auditGroup({ json: send, blob }: Pick<Sender, 'json' | 'blob'>) {
  const list = (params?: Listing) => send<AuditEntry[]>('GET', path`/api/v1/audit`, params)
  return {
    list,
    /** The same, with the `cursor` of the next page. */
    async page(params: Listing = {}): Promise<AuditPage> {
      let next: string | null = null
      const onResponse = (response: Response): void => {
        next = nextCursor(response.headers.get('link'))
        params.onResponse?.(response)
      }
      return { entries: await list({ ...params, onResponse }), next }
    },
    /** All entries that the filter lets through, as a file. */
    export(format: 'ndjson' | 'csv', params?: Params<Omit<AuditListParams, 'format'>>): Promise<Blob> {
      const request: Params<AuditListParams> = { ...params, format }
      return blob('GET', path`/api/v1/audit`, request)
    },
  }
}
