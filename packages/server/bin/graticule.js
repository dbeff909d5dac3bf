#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

// The sources run as they are. Keeping their compiled form makes later starts quicker, and spares them the memory of
// the compiler: hence this file in plain JavaScript before all others.
enableCompileCache(join(import.meta.dirname, '../.cache'))
await import('../src/main.ts')
