import { readFileSync } from 'node:fs'

/** The version of this package. package.json is one folder above both the sources and the compiled files. */
export const version: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
