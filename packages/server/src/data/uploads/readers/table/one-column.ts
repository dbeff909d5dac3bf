/** Both coordinates in one column. Its name decides which comes first, then its values; where neither does, nothing is placed. */
import { type ChosenGeometry, shareOf, type TextColumns } from './columns.ts'
import { isPairHeading, orderInHeading, type PairOrder } from './coordinate-headings.ts'
import { isList, isTellingPair, orderInCells, parsePair } from './coordinate-pair.ts'
import type { MeaningOfO } from './degrees.ts'

/** Most cells of a column that is called so, or all of any, beyond doubt. */
export function findOneColumn(columns: TextColumns, meaningOfO: MeaningOfO | undefined): ChosenGeometry | undefined {
  const { names, cells } = columns
  const share = (column: number) => {
    // A point of 12,5 is no pair, unless the heading says so.
    const isSaid = orderInHeading(names[column] ?? '') !== undefined
    return shareOf(cells[column] ?? [], (cell) => parsePair(cell, meaningOfO, isSaid || isList(cell)) !== undefined)
  }
  const isTelling = (column: number) => shareOf(cells[column] ?? [], (cell) => isTellingPair(cell, meaningOfO)) === 1
  const named = names.findIndex((name, column) => isPairHeading(name) && share(column) > 0.5)
  const column = named >= 0 ? named : names.findIndex((_, index) => isTelling(index))
  return column < 0 ? undefined : pairColumn(columns, column, meaningOfO)
}

/** A column of pairs, in the order that its name or its values tell. */
export function pairColumn(
  { names, cells: all }: TextColumns,
  column: number,
  meaningOfO: MeaningOfO | undefined,
): ChosenGeometry {
  const name = names[column] ?? ''
  const cells = all[column] ?? []
  const [inHeading, inCells] = [orderInHeading(name), orderInCells(cells, meaningOfO)]
  if (inHeading && inCells && inHeading !== inCells) {
    return unplaced(name, `its name says ${orders[inHeading]}, but its values show ${orders[inCells]}`)
  }
  const told = inHeading ?? inCells
  if (!told && shareOf(cells, isList) > 0.5) {
    const example = (cells[0] ?? '').slice(0, 60)
    return unplaced(name, `neither its name nor its values (such as ${example}) tell which of them comes first`)
  }
  const order = told ?? 'latitude first'
  const reason = inHeading ? 'as its heading shows' : inCells ? 'as its values show' : 'the usual order'
  const other: PairOrder = order === 'latitude first' ? 'longitude first' : 'latitude first'
  const message = `The coordinates in column "${name}" were read as ${orders[order]}, ${reason}. If that is wrong, give the field geometry: ${choice(name, other)}.`
  return {
    geometryColumns: { kind: 'pair', column, order, ...(meaningOfO && { meaningOfO }) },
    // {"lat": 60.17, "lng": 24.94} leaves no doubt.
    warnings:
      shareOf(cells, (cell) => isLabelled(cell, meaningOfO)) === 1 ? [] : [{ code: 'coordinate_order', message }],
  }
}

function isLabelled(cell: string, meaningOfO: MeaningOfO | undefined): boolean {
  const { first, second } = parsePair(cell, meaningOfO, true) ?? {}
  return first?.axis !== undefined && second?.axis !== undefined
}

const orders: Readonly<Record<PairOrder, string>> = {
  'latitude first': 'latitude, longitude',
  'longitude first': 'longitude, latitude',
}

/** How the client says it. */
const choice = (name: string, order: PairOrder): string =>
  JSON.stringify(`${name}:${order === 'latitude first' ? 'lat,lon' : 'lon,lat'}`)

function unplaced(name: string, why: string): ChosenGeometry {
  const choices = `${choice(name, 'latitude first')} or ${choice(name, 'longitude first')}`
  const message = `The column "${name}" holds pairs of coordinates, but ${why}, so no geometry was made of them. Give the field geometry: ${choices}.`
  return { geometryColumns: { kind: 'none' }, warnings: [{ code: 'coordinate_order', message }] }
}
