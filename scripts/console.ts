// npm run console [-- --watch]: builds packages/console into packages/console/built, which the server serves as it is.
import { resolve } from 'node:path'
import { build } from 'vite'

await build({
  configFile: resolve(import.meta.dirname, '../packages/console/vite.config.ts'),
  logLevel: 'warn',
  ...(process.argv.includes('--watch') && { build: { watch: {} } }),
})
