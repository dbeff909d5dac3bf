// npm run licences: writes LICENSES.md, and fails when something shipped has a licence that is not allowed.
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { licencesPage, refusal } from './supply/licences.ts'
import { root, shippedPackages } from './supply/shipped-packages.ts'

const packages = shippedPackages()
writeFileSync(resolve(root, 'LICENSES.md'), licencesPage(packages))
for (const reason of packages.map(refusal)) {
  if (reason === undefined) continue
  console.error(reason)
  process.exitCode = 1
}
