// Tarballs of the packages that are published, as npm publish would make them.
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { npm } from './run-in.ts'

const root = resolve(import.meta.dirname, '../..')

export const published = ['client', 'map', 'agent'] as const
export type PublishedPackage = (typeof published)[number]

/** Builds the packages and puts their tarballs into the folder. */
export async function makeTarballs(folder: string): Promise<Record<PublishedPackage, string>> {
  await mkdir(folder, { recursive: true })
  const workspaces = published.map((name) => `--workspace=packages/${name}`)
  const output = await npm(root, ['pack', '--silent', '--pack-destination', resolve(folder), ...workspaces])
  const files = output.trim().split('\n')
  const tarballs = published.map((name) => {
    const file = files.find((line) => line.startsWith(`graticule-${name}-`))
    if (!file) throw new Error(`npm pack made no tarball of ${name}:\n${output}`)
    return [name, join(resolve(folder), file)] as const
  })
  return Object.fromEntries(tarballs) as Record<PublishedPackage, string>
}
