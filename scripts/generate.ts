import { writeFile } from 'node:fs/promises'
import { openApiDocument } from '../packages/server/src/openapi-document.ts'

// Writes the files that are made from the sources and checked in: a test fails when they are stale.
await writeFile(new URL('../openapi.json', import.meta.url), await openApiDocument())
