// npm run sbom [-- FILE]: writes the CycloneDX bill of materials of what is shipped, to sbom.cdx.json unless a file is named.
import { writeFileSync } from 'node:fs'
import { npmBom, shippedBom } from './supply/sbom.ts'

const [, , file = 'sbom.cdx.json'] = process.argv
const bom = shippedBom(npmBom())
writeFileSync(file, `${JSON.stringify(bom, null, 2)}\n`)
console.log(`${file}: ${bom.components.length} components`)
