import { mkdir, writeFile } from 'node:fs/promises'
import { limitsPage } from '../packages/server/src/boot/documents/limits-page.ts'
import { openApiDocument } from '../packages/server/src/boot/documents/openapi-document.ts'
import { clientTypes } from './client-types.ts'
import { referencePages } from './reference/reference-pages.ts'

// Writes the files that are made from the sources and checked in: a test fails when they are stale.
const document = await openApiDocument()
await writeFile(new URL('../openapi.json', import.meta.url), document)
await writeFile(new URL('../packages/client/src/types.ts', import.meta.url), clientTypes(document))
await writeFile(new URL('../docs/limits.md', import.meta.url), limitsPage())
await mkdir(new URL('../docs/reference/', import.meta.url), { recursive: true })
for (const [path, text] of await referencePages()) await writeFile(new URL(`../${path}`, import.meta.url), text)
