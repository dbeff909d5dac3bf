#!/usr/bin/env node
// The repository runs the sources as they are; a tarball, which lacks the build's settings, runs what was built of them.
import { existsSync } from 'node:fs'

const isRepository = existsSync(new URL('../tsconfig.build.json', import.meta.url))
const { main } = await import(isRepository ? '../src/main.ts' : '../dist/main.js')
await main()
