// The reference of the published packages as Markdown, made by TypeDoc from their types and comments: one page for each.
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Application, type TypeDocOptions } from 'typedoc'
import { load, type PluginOptions } from 'typedoc-plugin-markdown'
import { type PublishedPackage, published } from '../packages/tarballs.ts'

const packages = resolve(import.meta.dirname, '../../packages')

const look: Partial<TypeDocOptions & PluginOptions> = {
  router: 'module',
  readme: 'none',
  disableSources: true,
  excludeExternals: true,
  excludePrivate: true,
  excludeInternal: true,
  groupOrder: ['Functions', 'Classes', 'Constructors', 'Properties', 'Methods', '*'],
  entryFileName: 'page',
  hideBreadcrumbs: true,
  hidePageHeader: true,
  useCodeBlocks: true,
  expandObjects: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  tableColumnSettings: { hideModifiers: true, hideOverrides: true, hideInherited: true, hideSources: true },
}

/** The text of each package's page, by the page's path. */
export async function referencePages(): Promise<Map<string, string>> {
  const pages = new Map<string, string>()
  for (const name of published) pages.set(`docs/reference/${name}.md`, await referencePage(name))
  return pages
}

async function referencePage(name: PublishedPackage): Promise<string> {
  const { exports } = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8'))
  const entries = Object.entries<{ 'graticule-source'?: string }>(exports)
  const parts: string[] = []
  for (const [entry, { 'graticule-source': file }] of entries) {
    if (file) parts.push(await describeEntry(name, join('@graticule', name, entry), file))
  }
  return `<!-- Made by npm run generate from the types and comments of packages/${name}. -->\n\n${parts.join('\n')}`
}

/** A property whose members have rows of their own below it. */
const group = /^(\| (?:<a id="[^"]*"><\/a> )?`([\w.]+)` \| )\\\{ .*( \| .*? \|\n)(?=\| `\2\.)/gm

/** Leaves out what TypeDoc says without having been told: types that are spelt out below, names and values it made up. */
const tidy = (page: string): string =>
  page
    .replaceAll(group, '$1`object`$3')
    .replaceAll('__namedParameters', 'options')
    .replaceAll(/(?<!\\)\| `undefined` (?=\|)/g, '| - ')

async function describeEntry(name: PublishedPackage, title: string, file: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'graticule-reference-'))
  const app = await Application.bootstrapWithPlugins({
    ...look,
    name: title,
    entryPoints: [join(packages, name, file)],
    tsconfig: join(packages, name, 'tsconfig.build.json'),
    // One package's types may name another's, whose sources lie beside its own.
    compilerOptions: { customConditions: ['graticule-source'], rootDir: packages },
    plugin: [load],
    // TypeDoc empties the folder that it writes to, which by default is docs/.
    outputs: [{ name: 'markdown', path: folder }],
    logLevel: 'Error',
  })
  try {
    const project = await app.convert()
    if (!project) throw new Error(`TypeDoc cannot read ${file} of packages/${name}.`)
    await app.generateOutputs(project)
    return tidy(await readFile(join(folder, 'page.md'), 'utf8'))
  } finally {
    await rm(folder, { recursive: true })
  }
}
