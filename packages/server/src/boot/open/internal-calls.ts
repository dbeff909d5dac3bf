/** Internal calls of operations: by the tools of models, by the publishing of tables, and for the API's document. */

import { createCaller } from '../../agents/mcp/call-operation.ts'
import { columnsOperation } from '../../agents/mcp/dataset.ts'
import { openApi } from '../../api/http/openapi/openapi.ts'
import { apiOperations, operations } from '../../operations.ts'
import type { Services } from '../../services.ts'

const createDataset = operations.find(({ id }) => id === 'datasets.create')
const callerFor = createCaller([...operations, ...columnsOperation(operations)])

/** `services` is a function, because the calls are themselves one of the services. */
export const internalCalls = (services: () => Services): Pick<Services, 'createDataset' | 'callAs'> => ({
  async createDataset(context, body) {
    if (!createDataset) throw new Error('There is no operation datasets.create')
    return createDataset.handle({ ...context, tree: {}, services: services() }, { params: {}, query: {}, body })
  },
  callAs: (from, caller) => callerFor({ ...from, services: services() }, caller),
})

export function createOpenApiText(version: string): () => Buffer {
  let text: Buffer | undefined
  return () => {
    text ??= Buffer.from(JSON.stringify(openApi(apiOperations, version)))
    return text
  }
}
