import { escapeHtml } from '../../query/formats/html.ts'
/**
 * The page of a shared map with what chats read: Open Graph tags. They fetch the page without the fragment of a link, so without its key.
 */

export type SharedMap = {
  readonly name: string
  readonly description: string
  readonly picture?: { readonly width: number; readonly height: number; readonly version: string }
}

export type SharedMaps = {
  /** Nothing unless the map is shared with everybody who has its link. */
  find(id: string): Promise<SharedMap | undefined>
  /** The bytes of its picture, a JPEG. */
  picture(id: string): Promise<Buffer | undefined>
}

/** Chats show less; a description may have 10 000 characters. */
const maxDescription = 300

/** `address`: of the shared page, without a fragment. */
export function sharedPage(page: Buffer, { name, description, picture }: SharedMap, address: string): Buffer {
  const short = description.length > maxDescription ? `${description.slice(0, maxDescription - 1)}…` : description
  const about = short && { description: short, 'og:description': short }
  const image = picture && {
    'og:image': `${address}.jpg?v=${picture.version}`,
    'og:image:type': 'image/jpeg',
    'og:image:width': String(picture.width),
    'og:image:height': String(picture.height),
    'og:image:alt': name,
    'twitter:card': 'summary_large_image',
  }
  const tags = {
    'og:type': 'website',
    'og:site_name': 'Graticule',
    'og:title': name,
    'og:url': address,
    ...about,
    ...image,
  }
  const title = `<title>${escapeHtml(name)}</title>`
  const head = [title, ...Object.entries(tags).map(([tag, content]) => metaTag(tag, content))].join('\n    ')
  // A function, because a name may have $ in it.
  return Buffer.from(page.toString().replace('<title>Graticule</title>', () => head))
}

const metaTag = (tag: string, content: string): string =>
  `<meta ${tag.startsWith('og:') ? 'property' : 'name'}="${tag}" content="${escapeHtml(content)}" />`
