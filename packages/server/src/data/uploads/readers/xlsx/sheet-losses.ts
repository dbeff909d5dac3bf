/** Cells of a workbook whose values cannot be read: formulas without a result, and results that are errors. */
import { readFile } from 'node:fs/promises'
import type { Warning } from '../reader.ts'
import type { UnzippedFile } from '../zip/zip.ts'

const prefix = String.raw`(?:\w+:)?`
/** A formula without a value, as programs write it that do not calculate. */
const uncalculated = new RegExp(
  String.raw`<${prefix}c\b([^<>]*)>\s*<${prefix}f\b(?:[^<>]*/>|[^<>]*>[^<>]*</${prefix}f>)\s*` +
    String.raw`(?:<${prefix}v\b(?:[^<>]*/>|[^<>]*>\s*</${prefix}v>))?\s*</${prefix}c>`,
  'g',
)
const failed = new RegExp(String.raw`<${prefix}c\b([^<>]*\bt\s*=\s*["']e["'][^<>]*)>`, 'g')
/** The result of such a formula is a text, be it an empty one. */
const isText = /\bt\s*=\s*["']str["']/

/** What is lost of each sheet, by its name. */
export async function findLosses(files: readonly UnzippedFile[]): Promise<Map<string, Warning[]>> {
  const losses = new Map<string, Warning[]>()
  for (const { sheet, path } of await sheetFiles(files)) {
    const xml = await readFile(path, 'latin1')
    const empty = [...xml.matchAll(uncalculated)].flatMap(([, cell = '']) => (isText.test(cell) ? [] : cell))
    const errors = [...xml.matchAll(failed)].map(([, cell = '']) => cell)
    losses.set(sheet, [
      ...warningOf(empty, 'formulas_without_values', (cells) => {
        const advice = 'Open the workbook in a spreadsheet program, save it, and send it again.'
        return `The file holds formulas without their results (${cells}), which are null. ${advice}`
      }),
      ...warningOf(
        errors,
        'formula_errors',
        (cells) => `The results of formulas are errors (${cells}), read as they are shown.`,
      ),
    ])
  }
  return losses
}

const shownCells = 5

function warningOf(cells: readonly string[], code: string, message: (shown: string) => string): Warning[] {
  if (cells.length === 0) return []
  const names = cells.slice(0, shownCells).map((cell) => /\br\s*=\s*["']([A-Z]{1,3}\d{1,7})["']/.exec(cell)?.[1] ?? '?')
  return [
    { code, message: message(`${names.join(', ')}${cells.length > shownCells ? ', …' : ''}`), count: cells.length },
  ]
}

/** The files of the sheets: the workbook names them by relations. */
export async function sheetFiles(files: readonly UnzippedFile[]): Promise<{ sheet: string; path: string }[]> {
  const read = async (name: string): Promise<string> => {
    const file = files.find((one) => one.name.toLowerCase() === name)
    return file ? readFile(file.path, 'utf8') : ''
  }
  const targets = new Map(
    elements(await read('xl/_rels/workbook.xml.rels'), 'Relationship').map((element) => [
      attribute(element, 'Id'),
      attribute(element, 'Target').replace(/^\/?(xl\/)?/, 'xl/'),
    ]),
  )
  return elements(await read('xl/workbook.xml'), 'sheet').flatMap((element) => {
    const target = targets.get(attribute(element, String.raw`\w+:id`))
    const file = files.find(({ name }) => name === target)
    return file ? [{ sheet: unescaped(attribute(element, 'name')), path: file.path }] : []
  })
}

const elements = (xml: string, name: string): string[] =>
  xml.match(new RegExp(String.raw`<${prefix}${name}\s[^<>]*>`, 'g')) ?? []

const attribute = (element: string, name: string): string =>
  new RegExp(String.raw`\s${name}\s*=\s*(["'])(.*?)\1`).exec(element)?.[2] ?? ''

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

export const unescaped = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{2,4}));/gi, (found, hex, decimal, name) => {
    if (name !== undefined) return entities[name] ?? found
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : found
  })
