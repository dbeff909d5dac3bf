/** Bundles the files of a Shapefile into a ZIP archive, because an upload is one file. */
import { zipOfFiles } from './zip-of-files.ts'

const part = /^(.+?)\.(shp|shx|dbf|prj|cpg|sbn|sbx|qix|qmd|shp\.xml)$/i

/** Replaces the files of each Shapefile by `name.zip`. A single .shp stays, and the server reports what is missing. */
export async function bundleShapefiles(files: readonly File[]): Promise<File[]> {
  const groups = Map.groupBy(files, ({ name }) => part.exec(name)?.[1] ?? null)
  const bundles: File[] = [...(groups.get(null) ?? [])]
  for (const [stem, members] of groups) {
    if (stem === null) continue
    const isShapefile = members.length > 1 && members.some(({ name }) => /\.shp$/i.test(name))
    bundles.push(...(isShapefile ? [await zipOfFiles(`${stem}.zip`, members)] : members))
  }
  return bundles
}
