// The software bill of materials (CycloneDX), made of npm's own: restricted to what is shipped, and the same for the same lockfile
// and version of npm, wherever and whenever it is made.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { compare, root, shippedPackages } from './shipped-packages.ts'

type Component = {
  'bom-ref': string
  name: string
  version: string
  scope?: string
  properties?: { name: string; value: string }[]
}
type Dependency = { ref: string; dependsOn?: string[] }
export type Bom = {
  serialNumber: string
  metadata: { timestamp?: string; component: Component }
  components: Component[]
  dependencies: Dependency[]
}

/** With everything that the lockfile has: tools too. */
export function npmBom(): Bom {
  const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--include=dev', '--include=optional']
  const text = execFileSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return JSON.parse(text)
}

export function shippedBom(bom: Bom): Bom {
  const shipped = new Map(shippedPackages().map(({ name, version, as }) => [`${name}@${version}`, as]))
  const isOurs = (name: string) => name.startsWith('@graticule/')
  const components = bom.components
    .filter(({ name, version }) => isOurs(name) || shipped.has(`${name}@${version}`))
    .map((component) => described(component, shipped.get(`${component.name}@${component.version}`)))
    .sort((a, b) => compare(a['bom-ref'], b['bom-ref']))
  const { component } = bom.metadata
  const refs = new Set([component['bom-ref'], ...components.map(({ 'bom-ref': ref }) => ref)])
  const dependencies = bom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((name) => refs.has(name)).sort(compare) }))
    .sort((a, b) => compare(a.ref, b.ref))
  const { timestamp, ...metadata } = bom.metadata
  // npm names the component after the folder that it lies in.
  const whole = {
    ...bom,
    metadata: { ...metadata, component: { ...component, name: 'graticule' } },
    components,
    dependencies,
  }
  return { ...whole, serialNumber: serialOf(whole) }
}

/** Where the package is, and not where npm would put it. */
function described(component: Component, as: 'installed' | 'bundled' | undefined): Component {
  const name = 'graticule:shipped'
  return { ...component, scope: 'required', properties: [{ name, value: as ?? 'ours' }] }
}

/** A UUID by the content: another lockfile has another one. */
function serialOf(bom: Bom): string {
  const { serialNumber, ...content } = bom
  const digits = createHash('sha256').update(JSON.stringify(content)).digest('hex')
  const variant = ((Number.parseInt(digits.slice(16, 18), 16) & 0x3f) | 0x80).toString(16)
  const parts = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    variant + digits.slice(18, 20),
    digits.slice(20, 32),
  ]
  return `urn:uuid:${parts.join('-')}`
}
