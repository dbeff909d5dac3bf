#!/usr/bin/env node
// In the repository this runs the TypeScript sources; in the published package, which has no build settings, the compiled files.
import { existsSync } from 'node:fs'

const isRepository = existsSync(new URL('../tsconfig.build.json', import.meta.url))
const { main } = await import(isRepository ? '../src/main.ts' : '../dist/main.js')
await main()
