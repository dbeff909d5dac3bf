import { readFile } from 'node:fs/promises'
import { openApi } from '../../api/http/openapi/openapi.ts'
import { apiOperations } from '../../operations.ts'

/** The OpenAPI document as it is checked in, made from the declarations without a running server. */
export async function openApiDocument(): Promise<string> {
  const { version } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8'))
  return `${JSON.stringify(openApi(apiOperations, version), null, 2)}\n`
}
