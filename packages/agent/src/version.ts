import { readFileSync } from 'node:fs'

/** The version of this package. Its package.json lies one folder above, of the sources as of the compiled files. */
export const version: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
