import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBoundsFilter } from './gml-bounds.ts'

const filtered = (text: string, size = text.length): string => {
  const filter = createBoundsFilter()
  let kept = ''
  for (let at = 0; at < text.length; at += size) kept += filter.write(text.slice(at, at + size))
  return kept + filter.end()
}

const bounds = '<gml:boundedBy><gml:Envelope><gml:lowerCorner>1 2</gml:lowerCorner></gml:Envelope></gml:boundedBy>'
const feature = (inner: string) =>
  `<gml:featureMember><a gml:id="x">${inner}<name>lowerCorner</name></a></gml:featureMember>`

test('bounds of features are left out, those of the collection stay', () => {
  const text = (inner: string) => `<FeatureCollection>${bounds}${feature(inner).repeat(3)}</FeatureCollection>`
  for (const inner of [bounds, '<gml:boundedBy/>', '<boundedBy xsi:nil="true"/>', '<g:boundedBy >x</g:boundedBy >'])
    for (const size of [1, 7, 100, 100_000]) assert.equal(filtered(text(inner), size), text(''), `${inner} by ${size}`)
})

test('members of WFS and of CityGML are members too', () => {
  for (const member of ['wfs:member', 'member', 'core:cityObjectMember', 'gml:featureMembers'])
    assert.equal(
      filtered(`<c>${bounds}<${member}>${bounds}</${member}></c>`),
      `<c>${bounds}<${member}></${member}></c>`,
    )
})

test('what only looks like bounds stays', () => {
  const text = `<c>${feature('<boundedByThem>x</boundedByThem>')}</c>`
  assert.equal(filtered(text), text)
  const endless = `<c>${feature(`<![CDATA[<gml:boundedBy>]]>${'x'.repeat(200_000)}`)}</c>`
  for (const size of [1_000, 300_000]) assert.equal(filtered(endless, size), endless)
  assert.equal(filtered(''), '')
})
