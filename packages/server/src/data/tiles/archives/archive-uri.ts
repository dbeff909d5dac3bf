// Parser for the addresses of tile archives.
import { invalid } from '../../../kernel/errors.ts'

export type ArchiveUri =
  | { readonly kind: 'mbtiles' | 'pmtiles'; readonly file: string }
  | { readonly kind: 'remote-pmtiles' | 'proxy' | 'described'; readonly url: string }

const maxLength = 2_000

/** Throws a 400 unless the text is an archive's address. */
export function checkArchiveUri(uri: string): void {
  parseArchiveUri(uri)
}

/** `mbtiles://file`, `pmtiles://file`, `pmtiles://https://…`, `https://…/{z}/{x}/{y}.png`, or `https://….json`, a TileJSON or style */
export function parseArchiveUri(uri: string): ArchiveUri {
  if (uri.length > maxLength) throw refused(`must not be longer than ${maxLength} characters`)
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is.exec(uri) ?? []
  const isWeb = /^https?:/i.test(rest)
  switch (scheme.toLowerCase()) {
    case 'mbtiles':
      if (isWeb) throw refused('MBTiles cannot be read from the web; upload the file, or use PMTiles')
      return { kind: 'mbtiles', file: checkedFile(rest, 'mbtiles') }
    case 'pmtiles':
      return isWeb
        ? { kind: 'remote-pmtiles', url: checkedUrl(rest, rest).href }
        : { kind: 'pmtiles', file: checkedFile(rest, 'pmtiles') }
    case 'http':
    case 'https':
      return isDocument(uri)
        ? { kind: 'described', url: checkedUrl(uri, uri).href }
        : { kind: 'proxy', url: checkedTemplate(uri) }
    default:
      throw refused('must begin with mbtiles://, pmtiles://, http:// or https://')
  }
}

const isDocument = (uri: string): boolean => /^[^?#{}]+\.json([?#][^{}]*)?$/i.test(uri)

const refused = (message: string) => invalid('body/source', message)

/** Names are taken literally, without escapes, so that each file has exactly one spelling. */
function checkedFile(name: string, extension: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: names must not contain control characters.
  if (/[\u0000-\u001f\u007f\\%?#:]/.test(name)) {
    throw refused('must be a plain file name without \\ % ? # : or control characters')
  }
  const parts = name.split('/')
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    throw refused('must be a path inside the files of the application, such as folder/name')
  }
  if (!name.toLowerCase().endsWith(`.${extension}`)) throw refused(`must end with .${extension}`)
  return name
}

/** `text` is the URL without its placeholders. */
function checkedUrl(text: string, shown: string): URL {
  const url = URL.parse(text)
  if (!url || /[\s\\]/.test(shown)) throw refused('must hold a valid address')
  if (url.username !== '' || url.password !== '') throw refused('must not hold a user or password')
  if (url.hash !== '') throw refused('must not hold a fragment')
  return url
}

const placeholders = ['z', 'x', 'y', '-y', 'ratio', 'r']

function checkedTemplate(template: string): string {
  const names = [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name)
  if (names.includes('s')) throw refused('{s} is not supported; write one of the host names')
  const unknown = names.find((name) => !placeholders.includes(name))
  if (unknown !== undefined) throw refused(`{${unknown}} is not known; there are {z}, {x}, {y}, {-y} and {ratio}`)
  const hasAll = names.includes('z') && names.includes('x') && names.includes('y') !== names.includes('-y')
  if (!hasAll)
    throw refused(
      'must hold {z}, {x} and one of {y} and {-y}, be written pmtiles://https://…, or name a TileJSON or style that ends with .json',
    )
  const filled = template.replaceAll(/\{[^{}]*\}/g, '0')
  if (/[{}]/.test(filled)) throw refused('must hold { and } only in placeholders')
  if (/^https?:\/\/[^/?#]*[{}]/i.test(template)) throw refused('must hold no placeholder in its host')
  checkedUrl(filled, filled)
  return template
}
