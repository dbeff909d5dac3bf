import assert from 'node:assert/strict'
import { posix } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { SaxesParser } from 'saxes'
import { fromBufferPromise } from 'yauzl'
import type { Cell } from '../cell.ts'
import type { ExportColumn } from './export-order.ts'
import { writeXlsx } from './xlsx.ts'

// The schemas of ECMA-376 (5th edition, transitional; part 2 for the package), as far as we write what they describe: an element that
// is not in this table is a fault. Readers are lenient in different places, so that opening a file in one of them proves little.

type Rule = {
  /** The names of the children in their order, each followed by a blank. */
  readonly children?: RegExp
  readonly required?: readonly string[]
  readonly optional?: readonly string[]
  /** The form of an attribute. */
  readonly forms?: Readonly<Record<string, RegExp>>
  /** What `count` counts. */
  readonly counts?: string
}
const nothing: Rule = {}
const whole = /^\d+$/
const truth = /^(0|1|true|false)$/
const list = (item: string): Rule => ({ children: new RegExp(`^(${item} )+$`), optional: ['count'], counts: item })

const rules: Readonly<Record<string, Rule>> = {
  Types: { children: /^(Default |Override )*$/ },
  Default: { required: ['Extension', 'ContentType'] },
  Override: { required: ['PartName', 'ContentType'], forms: { PartName: /^\// } },
  Relationships: { children: /^(Relationship )*$/ },
  Relationship: { required: ['Id', 'Type', 'Target'], optional: ['TargetMode'], forms: { Id: /^[A-Za-z_][\w.-]*$/ } },
  workbook: { children: /^(fileVersion )?(workbookPr )?(bookViews )?sheets (definedNames )?(calcPr )?$/ },
  sheets: { children: /^(sheet )+$/ },
  sheet: {
    required: ['name', 'sheetId', 'r:id'],
    optional: ['state'],
    forms: { sheetId: whole, name: /^[^[\]:*?/\\]{1,31}$/u },
  },
  styleSheet: {
    children:
      /^(numFmts )?(fonts )?(fills )?(borders )?(cellStyleXfs )?(cellXfs )?(cellStyles )?(dxfs )?(tableStyles )?(colors )?$/,
  },
  numFmts: list('numFmt'),
  numFmt: { required: ['numFmtId', 'formatCode'], forms: { numFmtId: whole } },
  fonts: list('font'),
  font: { children: /^(b |i |sz |color |name |family |charset |scheme )*$/ },
  sz: { required: ['val'] },
  name: { required: ['val'] },
  family: { required: ['val'], forms: { val: whole } },
  fills: list('fill'),
  fill: { children: /^(patternFill|gradientFill) $/ },
  patternFill: { children: /^(fgColor )?(bgColor )?$/, optional: ['patternType'] },
  borders: list('border'),
  border: { children: /^(start )?(end )?(left )?(right )?(top )?(bottom )?(diagonal )?(vertical )?(horizontal )?$/ },
  ...Object.fromEntries(['left', 'right', 'top', 'bottom', 'diagonal'].map((side) => [side, nothing])),
  cellStyleXfs: list('xf'),
  cellXfs: list('xf'),
  xf: {
    children: /^(alignment )?(protection )?$/,
    optional: ['numFmtId', 'fontId', 'fillId', 'borderId', 'xfId', 'applyNumberFormat'],
    forms: { numFmtId: whole, fontId: whole, fillId: whole, borderId: whole, xfId: whole, applyNumberFormat: truth },
  },
  cellStyles: list('cellStyle'),
  cellStyle: { required: ['xfId'], optional: ['name', 'builtinId'], forms: { xfId: whole, builtinId: whole } },
  worksheet: { children: /^(dimension )?(sheetViews )?(sheetFormatPr )?(cols )?sheetData $/ },
  sheetData: { children: /^(row )*$/ },
  row: { children: /^(c )*$/, optional: ['r'], forms: { r: /^[1-9]\d*$/ } },
  c: {
    children: /^(f )?(v )?(is )?$/,
    optional: ['r', 's', 't'],
    forms: { r: /^[A-Z]{1,3}[1-9]\d*$/, s: whole, t: /^(b|d|n|e|s|str|inlineStr)$/ },
  },
  v: nothing,
  is: { children: /^t $/ },
  t: { optional: ['xml:space'], forms: { 'xml:space': /^(default|preserve)$/ } },
  columns: nothing,
}

type Element = { readonly name: string; readonly attributes: Record<string, string>; readonly children: Element[] }

/** The root; every element is held against its rule on the way. */
function checkedElements(part: string, xml: string): Element {
  const root: Element = { name: '', attributes: {}, children: [] }
  const open = [root]
  const parser = new SaxesParser({ xmlns: false })
  parser.on('error', (error) => assert.fail(`${part}: ${error.message}`))
  parser.on('opentag', ({ name, attributes }) => {
    const element = { name, attributes, children: [] }
    open.at(-1)?.children.push(element)
    open.push(element)
  })
  parser.on('closetag', () => assertAsTheSchemaSays(part, open.pop() ?? root))
  parser.write(xml).close()
  return root.children[0] ?? root
}

function assertAsTheSchemaSays(part: string, { name, attributes, children }: Element): void {
  const rule = rules[name]
  assert.ok(rule, `${part}: <${name}> is not in the table of this test`)
  const { required = [], optional = [], forms = {} } = rule
  const given = Object.keys(attributes).filter((one) => !one.startsWith('xmlns'))
  for (const one of required) assert.ok(given.includes(one), `${part}: <${name}> lacks ${one}`)
  for (const one of given) assert.ok([...required, ...optional].includes(one), `${part}: <${name}> has no ${one}`)
  for (const [one, form] of Object.entries(forms)) {
    if (attributes[one] !== undefined) assert.match(attributes[one], form, `${part}: ${one} of <${name}>`)
  }
  assert.match(
    children.map((child) => `${child.name} `).join(''),
    rule.children ?? /^$/,
    `${part}: children of <${name}>`,
  )
  if (rule.counts) assert.equal(Number(attributes.count ?? children.length), children.length, `${part}: <${name}>`)
}

const columns: ExportColumn[] = [
  { name: 'id', type: 'integer' },
  { name: 'a "b" <c> & _x0041_', type: 'string' },
  { name: 'day', type: 'date' },
  { name: 'at', type: 'datetime' },
  { name: 'time', type: 'time' },
  { name: 'flag', type: 'boolean' },
  { name: 'number', type: 'number' },
  { name: 'doc', type: 'json' },
  { name: 'geom', type: 'geometry', geometryType: 'Point', hasZ: false, hasM: false },
]
const rows: Cell[][] = [
  [
    '1',
    'a\u0001b\n\t ]]> =1+1',
    '2026-01-31',
    '2026-01-31T10:20:30.5Z',
    '10:00:00',
    'true',
    '1.5',
    '{"a": 1}',
    'POINT(1 2)',
  ],
  columns.map(() => null),
  ['9223372036854775807', '', '0001-01-01', 'infinity', '24:00:00', 'false', 'NaN', '[]', 'POINT EMPTY'],
]

/** The text of each part. */
async function partsOf(name: string, shown: ExportColumn[], written: Cell[][]): Promise<Map<string, string>> {
  async function* batches() {
    yield written
  }
  const order = { format: 'xlsx', name, columns: shown, srid: 4326, maxBytes: 1e9, path: '' } as const
  const zip = await fromBufferPromise(Buffer.concat(await Array.fromAsync(writeXlsx(batches(), order))))
  const parts = new Map<string, string>()
  for await (const entry of zip.eachEntry()) {
    parts.set(entry.fileName, await text(await zip.openReadStreamPromise(entry)))
  }
  return parts
}

const workbooks: Readonly<Record<string, Promise<Map<string, string>>>> = {
  'of every type of column': partsOf("it's a/[name]: *?\\ of more than thirty-one letters 🌍", columns, rows),
  'without rows': partsOf('', columns, []),
  'without columns': partsOf('History', [], [[], []]),
  'of 800 columns': partsOf(
    'wide',
    Array.from({ length: 800 }, (_, index) => ({ name: `column ${index}`, type: 'integer' })),
    [Array.from({ length: 800 }, (_, index) => String(index))],
  ),
}

for (const [kind, made] of Object.entries(workbooks)) {
  describe(`a workbook ${kind}`, () => {
    test('has parts as the schemas of ECMA-376 say', async () => {
      for (const [part, xml] of await made) checkedElements(part, xml)
    })

    test('has a type for each part, and a part for each type', async () => {
      const parts = await made
      const types = checkedElements('types', parts.get('[Content_Types].xml') ?? '').children
      for (const part of [...parts.keys()].filter((name) => name !== '[Content_Types].xml')) {
        const isTyped = types.some(({ attributes: { PartName, Extension = '/' } }) =>
          PartName ? PartName === `/${part}` : part.endsWith(`.${Extension}`),
        )
        assert.ok(isTyped, part)
      }
      for (const { attributes } of types) {
        if (attributes.PartName) assert.ok(parts.has(attributes.PartName.slice(1)), attributes.PartName)
      }
    })

    test('has a part for each relationship', async () => {
      const parts = await made
      for (const [part, xml] of [...parts].filter(([name]) => name.endsWith('.rels'))) {
        const relationships = checkedElements(part, xml).children.map(({ attributes }) => attributes)
        assert.equal(new Set(relationships.map(({ Id }) => Id)).size, relationships.length)
        for (const { Target = '' } of relationships) {
          const target = posix.join(posix.dirname(part), '..', Target)
          assert.ok(parts.has(target), `${part} leads to ${target}`)
        }
      }
    })

    test('has cells in their order, with formats that are there', async () => {
      const parts = await made
      const styles = checkedElements('styles', parts.get('xl/styles.xml') ?? '')
      const formats = styles.children.find(({ name }) => name === 'cellXfs')?.children.length ?? 0
      const sheet = checkedElements('sheet', parts.get('xl/worksheets/sheet1.xml') ?? '').children[0]
      for (const [index, row] of (sheet?.children ?? []).entries()) {
        assert.equal(Number(row.attributes.r), index + 1)
        const places = row.children.map(({ attributes: { r = '' } }) => r.slice(0, -String(index + 1).length))
        const sorted = places.toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1))
        assert.deepEqual(places, sorted)
        for (const { attributes, children } of row.children) {
          assert.ok(Number(attributes.s ?? 0) < formats)
          assert.equal(children[0]?.name, attributes.t === 'inlineStr' ? 'is' : 'v', attributes.r)
        }
      }
    })
  })
}
