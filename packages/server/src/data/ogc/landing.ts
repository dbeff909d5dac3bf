// The landing page, where every client begins.
import { addressOf, bothForms, type Link, mediaTypes, ogcRelation, type Root, selfLinks } from './links.ts'
import type { Form } from './negotiate.ts'

export const landingDocument = (root: Root, form: Form = 'json') => ({
  title: 'Graticule',
  description: 'The datasets of this server as features and tiles, by the standards of OGC API.',
  links: landingLinks(root, form),
})

const landingLinks = (root: Root, form: Form): Link[] => [
  ...selfLinks((f) => addressOf(root, '', { f }), form),
  { href: addressOf(root, '/api'), rel: 'service-desc', type: mediaTypes.openApi, title: 'The API definition' },
  {
    href: addressOf(root, '/api', { f: 'html' }),
    rel: 'service-doc',
    type: mediaTypes.html,
    title: 'The API definition as a page',
  },
  ...bothForms(root, '/conformance', 'conformance', mediaTypes.json, 'The conformance classes that hold'),
  ...bothForms(root, '/collections', 'data', mediaTypes.json, 'The collections'),
  ...bothForms(root, '/tileMatrixSets', ogcRelation('tiling-schemes'), mediaTypes.json, 'The tile matrix sets'),
]
