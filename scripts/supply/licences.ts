// LICENSES.md: the licence of everything that is shipped.
import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { compare, root, type ShippedPackage, shippedPackages } from './shipped-packages.ts'

/** Licences that ask for no more than their notice. */
const allowed = new Set([
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'CC0-1.0', 'ISC', 'MIT', 'MIT-0'],
  ...['Python-2.0', 'Unlicense', 'Zlib'],
])
/** Packages whose licence asks for more, and why they may be shipped. */
const exceptions: Readonly<Record<string, string>> = {
  'gdal3.js': 'LGPL-2.1-or-later: a library of its own, loaded unchanged in a process of its own, and replaceable.',
}

/** What packages hold besides their own code: compiled programs of others, whose licence the package does not name. */
const compiled: readonly [what: string, holds: string][] = [
  ['@electric-sql/pglite', 'PostgreSQL (PostgreSQL License), compiled to WebAssembly'],
  [
    '@electric-sql/pglite-postgis',
    'PostGIS (GPL-2.0-or-later), GEOS (LGPL-2.1-or-later), PROJ (MIT), compiled to WebAssembly. Only the embedded database loads it. ' +
      'Whoever passes on an image with it passes on PostGIS under the terms of the GPL',
  ],
  ['@duckdb/node-bindings', 'DuckDB (MIT) with its extensions, compiled for each platform'],
  [
    'gdal3.js',
    'GDAL (MIT), PROJ (MIT), GEOS (LGPL-2.1-or-later), SQLite (public domain) and others, compiled to WebAssembly',
  ],
  [
    'libpg-query',
    'the parser of PostgreSQL (PostgreSQL License) and libpg_query (BSD-3-Clause), compiled to WebAssembly',
  ],
  ['node', 'Node.js (MIT) with V8 (BSD-3-Clause), OpenSSL (Apache-2.0), ICU (Unicode License v3) and others'],
]

/** Why a package may not be shipped; nothing where it may. */
export function refusal({ name, license }: Pick<ShippedPackage, 'name' | 'license'>): string | undefined {
  if (license === '') return `${name} names no licence`
  if (exceptions[name]?.startsWith(`${license}:`)) return undefined
  const isAllowed = license.replaceAll(/[()]/g, '').split(' OR ').some(isAllAllowed)
  return isAllowed
    ? undefined
    : `${name} has the licence ${license}, which is not in the list of scripts/supply/licences.ts`
}

const isAllAllowed = (choice: string): boolean => choice.split(' AND ').every((id) => allowed.has(id.trim()))

export function licencesPage(packages = shippedPackages()): string {
  return `# Licences of what is shipped

Written by \`npm run licences\` from the lockfile; a test fails when it is stale or a licence is not allowed. Graticule itself is
licensed under [Apache-2.0](LICENSE). Data, fonts and icons: [NOTICE](NOTICE) and [packages/assets/NOTICE](packages/assets/NOTICE).

## Packages with terms beyond their notice

${Object.entries(exceptions)
  .map(([name, why]) => `- \`${name}\`: ${why}`)
  .join('\n')}

## Programs that packages hold in compiled form

${compiled.map(([name, holds]) => `- \`${name}\`: ${holds}.`).join('\n')}

## Installed with the server

${table(packages.filter(({ as }) => as === 'installed'))}

## Bundled into the console

${table(packages.filter(({ as }) => as === 'bundled'))}

Packages of the first table that the console is built from too (such as \`maplibre-gl\`) are not repeated. Their notices:

${packages
  .filter(({ as }) => as === 'bundled')
  .map(notice)
  .join('\n\n')}
`
}

function table(packages: readonly ShippedPackage[]): string {
  const byLicence = Map.groupBy(packages, ({ license }) => license)
  const rows = [...byLicence]
    .sort(([a], [b]) => compare(a, b))
    .map(([license, those]) => {
      const names = new Set(those.map(({ name, version }) => `${name}@${version}`))
      return `| ${license} | ${names.size} | ${[...names].join(', ')} |`
    })
  return ['| Licence | Packages | |', '|---|---|---|', ...rows].join('\n')
}

/** What such licences ask for: the text that came with the package. */
function notice({ name, version, license, path }: ShippedPackage): string {
  const [file] = globSync('{LICENSE,LICENCE,license}*', { cwd: resolve(root, path) }).sort()
  const text = file
    ? readFileSync(resolve(root, path, file), 'utf8').trim()
    : `${license}; the package has no file with its text.`
  const quoted = text.split(/\r?\n/).map((line) => `    ${line.trimEnd()}`.trimEnd())
  return `### ${name} ${version}\n\n${quoted.join('\n')}`
}
