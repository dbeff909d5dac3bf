import { readFile } from 'node:fs/promises'
import { openApi } from './http/openapi.ts'
import { allOperations, type Parts } from './operations.ts'

/** The OpenAPI document as it is checked in. Declarations are enough for it: nothing runs. */
export async function openApiDocument(): Promise<string> {
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  const declarations = allOperations({} as Parts)
  return `${JSON.stringify(openApi(declarations, version), null, 2)}\n`
}
