/** The options of an upload. */
import type { UploadOptions } from '@graticule/client'

/** Sets an option; undefined removes it. */
export function withOption<Name extends keyof UploadOptions>(
  options: UploadOptions,
  name: Name,
  value: UploadOptions[Name],
): UploadOptions {
  const others = Object.entries(options).filter(([one]) => one !== name)
  return Object.fromEntries(value === undefined ? others : [...others, [name, value]])
}
