import { type StyleSpecification, validateStyleMin } from '@maplibre/maplibre-gl-style-spec'
import { lowerThreadPriority } from '../../../kernel/concurrency/priority.ts'
import { serveRequests } from '../../../kernel/concurrency/serve-requests.ts'
import { maxFaults } from '../../../kernel/errors.ts'

lowerThreadPriority()
serveRequests(messagesOf)

/** Each message is `path: what is wrong`. */
function messagesOf(style: StyleSpecification): string[] {
  try {
    return validateStyleMin(style)
      .slice(0, maxFaults)
      .map(({ message }) => message)
  } catch {
    // The validator trips over some shapes that are no style at all.
    return ['must be a MapLibre style: {"version": 8, "sources": {}, "layers": []}']
  }
}
