// The setting `metadata.tiles.overviews` of datasets whose tables are on other servers.
import { invalid } from '../../kernel/errors.ts'

type Metadata = Readonly<Record<string, unknown>>

const settingOf = ({ tiles }: Metadata): unknown =>
  typeof tiles === 'object' && tiles !== null && 'overviews' in tiles ? tiles.overviews : undefined

/** Throws a 400 unless it is absent or a boolean. */
export function checkOverviewSetting(metadata: Metadata): void {
  const setting = settingOf(metadata)
  if (setting === undefined || typeof setting === 'boolean') return
  throw invalid('body/metadata/tiles/overviews', 'must be true or false')
}

/** The operations on metadata alone check nothing, so anything but `true` counts as no. */
export const wantsOverviews = ({ metadata }: { readonly metadata: Metadata }): boolean => settingOf(metadata) === true
