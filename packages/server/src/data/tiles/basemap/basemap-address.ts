// What BASEMAP_URL, or the field of an application, names.
import { parseArchiveUri } from '../archives/archive-uri.ts'

/** The address of an archive: `https://…/x.pmtiles` may be written without the scheme. Throws a 400. */
export function archiveUriOf(address: string): string {
  const isArchive = /^https?:\/\/[^?#]+\.pmtiles([?#]|$)/i.test(address)
  const uri = isArchive ? `pmtiles://${address}` : address
  parseArchiveUri(uri)
  return uri
}
