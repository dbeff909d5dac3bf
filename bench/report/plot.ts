import { spreadOf } from '../statistics.ts'

/** Plots as SVG texts. They have no background and colours for light and dark pages, since they stand in both. */

const style = `<style>
  text { font: 12px system-ui, sans-serif; fill: #333 }
  .title { font-weight: 600 } .faint { fill: #777 } .end { text-anchor: end } .middle { text-anchor: middle }
  .grid { stroke: #ccc } .axis { stroke: #777 } .wanted { stroke: #d33; stroke-width: 2 } .range { stroke: #333 }
  .c0 { fill: #1769aa; stroke: #1769aa } .c1 { fill: #c76a00; stroke: #c76a00 } .c2 { fill: #5b8c2a; stroke: #5b8c2a }
  .line { fill: none; stroke-width: 2 } .label { stroke: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd } .faint { fill: #999 } .grid { stroke: #444 } .range { stroke: #ddd }
    .c0 { fill: #6ab7ff; stroke: #6ab7ff } .c1 { fill: #ffb056; stroke: #ffb056 } .c2 { fill: #a8d672; stroke: #a8d672 }
  }
</style>`

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const document = (width: number, height: number, title: string, content: readonly string[]): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    ...[style, ...content, '</svg>', ''],
  ].join('\n')

const text = (x: number, y: number, content: string, kind = ''): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" class="${kind}">${escapeXml(content)}</text>`

const line = (x1: number, y1: number, x2: number, y2: number, kind: string): string =>
  `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" class="${kind}"/>`

/** From values to places, as logarithms. */
const logScale = (from: number, to: number, start: number, end: number) => (value: number) =>
  start + ((Math.log(value) - Math.log(from)) / (Math.log(to) - Math.log(from))) * (end - start)

export type Bar = { readonly label: string; readonly ratios: readonly number[]; readonly wanted: number | undefined }

const bars = { width: 940, left: 510, right: 50, top: 44, row: 22 }

/** One bar for each ratio, from 1 (equal) to the right (better) or left (worse), with its spread and what is wanted. */
export function ratioPlot(title: string, rows: readonly Bar[]): string {
  const finite = rows.filter(({ ratios }) => ratios.length > 0 && ratios.every((ratio) => ratio > 0))
  const all = finite.flatMap(({ ratios, wanted }) => [...ratios, ...(wanted ? [wanted] : [])])
  const [least, most] = [Math.min(0.5, ...all), Math.max(2, ...all)]
  const at = logScale(least, most, bars.left, bars.width - bars.right)
  const height = bars.top + finite.length * bars.row + 10
  const ticks = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100].filter((tick) => tick >= least && tick <= most)
  const grid = ticks.flatMap((tick) => [
    line(at(tick), bars.top - 6, at(tick), height - 8, tick === 1 ? 'axis' : 'grid'),
    text(at(tick), bars.top - 12, `${tick}×`, 'faint middle'),
  ])
  const drawn = finite.flatMap((bar, index) => barMarks(bar, bars.top + index * bars.row, at))
  return document(bars.width, height, title, [text(8, 18, title, 'title'), ...grid, ...drawn])
}

function barMarks({ label, ratios, wanted }: Bar, y: number, at: (value: number) => number): string[] {
  const { median, least, most } = spreadOf(ratios)
  const [from, to] = [Math.min(at(1), at(median)), Math.max(at(1), at(median))]
  const middle = y + 8
  return [
    text(bars.left - 12, y + 12, label, 'end'),
    `<rect x="${from.toFixed(1)}" y="${y + 2}" width="${Math.max(1, to - from).toFixed(1)}" height="12" class="${median >= 1 ? 'c0' : 'c1'}"/>`,
    line(at(least), middle, at(most), middle, 'range'),
    ...(wanted ? [line(at(wanted), y, at(wanted), y + 16, 'wanted')] : []),
    text(Math.max(at(most), to) + 6, y + 12, median.toFixed(median < 10 ? 2 : 0)),
  ]
}

export type Curve = { readonly name: string; readonly points: readonly (readonly [x: number, y: number])[] }
export type Panel = { readonly title: string; readonly curves: readonly Curve[] }

const panels = { width: 280, height: 200, left: 48, right: 14, top: 52, bottom: 34 }

/** Panels beside each other, both axes logarithmic. */
export function growthPlot(title: string, axis: string, list: readonly Panel[]): string {
  const names = list[0]?.curves.map(({ name }) => name) ?? []
  const legend = names.map((name, index) => text(300 + index * 110, 18, `● ${name}`, `label c${index}`))
  const drawn = list.flatMap((panel, index) => panelMarks(panel, index * panels.width, axis))
  const width = panels.width * list.length
  return document(width, panels.height + 24, title, [text(8, 18, title, 'title'), ...legend, ...drawn])
}

function panelMarks({ title, curves }: Panel, offset: number, axis: string): string[] {
  const points = curves.flatMap((curve) => curve.points).filter(([x, y]) => x > 0 && y > 0)
  if (points.length === 0) return []
  const xs = [...new Set(points.map(([x]) => x))].sort((a, b) => a - b)
  const ys = points.map(([, y]) => y)
  const decades = powersAround(Math.min(...ys), Math.max(...ys))
  const [left, right] = [offset + panels.left, offset + panels.width - panels.right]
  const bottom = panels.height - panels.bottom
  const x = logScale(xs[0] ?? 1, (xs.at(-1) ?? 1) * 1.0001, left, right)
  const y = logScale(decades[0] ?? 1, decades.at(-1) ?? 10, bottom, panels.top)
  return [
    text(left, panels.top - 12, title),
    ...decades.flatMap((at) => [
      line(left, y(at), right, y(at), 'grid'),
      text(left - 6, y(at) + 4, short(at), 'faint end'),
    ]),
    ...xs.map((at) => text(x(at), bottom + 18, short(at), 'faint middle')),
    text((left + right) / 2, bottom + 34, axis, 'faint middle'),
    ...curves.flatMap((curve, index) => curveMarks(curve, index, x, y)),
  ]
}

type Scale = (value: number) => number

function curveMarks({ points }: Curve, index: number, x: Scale, y: Scale): string[] {
  const places = points.filter(([, value]) => value > 0).map(([at, value]) => [x(at).toFixed(1), y(value).toFixed(1)])
  const dots = places.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3" class="c${index}"/>`)
  return [`<polyline points="${places.map((place) => place.join(',')).join(' ')}" class="c${index} line"/>`, ...dots]
}

/** 1, 2 and 5 times powers of ten that enclose a range, with a step fitting its width. */
export function powersAround(least: number, most: number): number[] {
  const steps = most / least > 30 ? [1] : [1, 2, 5]
  const first = Math.floor(Math.log10(least))
  const last = Math.ceil(Math.log10(most)) + 1
  const all = Array.from({ length: last - first + 1 }, (_, n) => steps.map((step) => step * 10 ** (first + n))).flat()
  const start = all.findLastIndex((value) => value <= least)
  const end = all.findIndex((value) => value >= most && value > (all[start] ?? 0))
  return all.slice(start, end + 1)
}

/** 10 k, 5 M. */
const short = (value: number): string =>
  value >= 1e6 ? `${value / 1e6} M` : value >= 1e3 ? `${value / 1e3} k` : String(Number(value.toPrecision(3)))
