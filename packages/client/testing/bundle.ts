import { build } from 'vite'

/** The client as a page loads it: one minified module. */
export async function bundle(): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      minify: true,
      modulePreload: false,
      rolldownOptions: {
        input: new URL('../src/client.ts', import.meta.url).pathname,
        preserveEntrySignatures: 'strict',
        output: { format: 'es' },
      },
    },
  })
  const [file, ...others] = 'output' in result ? result.output : []
  if (!file || others.length > 0) throw new Error('The client is not one file')
  return file.code
}
