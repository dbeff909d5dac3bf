/**
 * Colour ramps. All but Viridis are from ColorBrewer (Cynthia Brewer, Mark Harrower, The Pennsylvania State University;
 * Apache License 2.0, see NOTICE); Viridis is from matplotlib (CC0). All are colour-blind safe.
 */
export type RampKind = 'sequential' | 'diverging' | 'qualitative'

const sequential = {
  YlGnBu: '#ffffd9 #edf8b1 #c7e9b4 #7fcdbb #41b6c4 #1d91c0 #225ea8 #253494 #081d58',
  Blues: '#f7fbff #deebf7 #c6dbef #9ecae1 #6baed6 #4292c6 #2171b5 #08519c #08306b',
  Greens: '#f7fcf5 #e5f5e0 #c7e9c0 #a1d99b #74c476 #41ab5d #238b45 #006d2c #00441b',
  Oranges: '#fff5eb #fee6ce #fdd0a2 #fdae6b #fd8d3c #f16913 #d94801 #a63603 #7f2704',
  Purples: '#fcfbfd #efedf5 #dadaeb #bcbddc #9e9ac8 #807dba #6a51a3 #54278f #3f007d',
  PuBuGn: '#fff7fb #ece2f0 #d0d1e6 #a6bddb #67a9cf #3690c0 #02818a #016c59 #014636',
  YlOrRd: '#ffffcc #ffeda0 #fed976 #feb24c #fd8d3c #fc4e2a #e31a1c #bd0026 #800026',
  // From light to dark, like the others.
  Viridis: '#fde725 #addc30 #5ec962 #28ae80 #21918c #2c728e #3b528b #472d7b #440154',
}

const diverging = {
  BrBG: '#543005 #8c510a #bf812d #dfc27d #f6e8c3 #f5f5f5 #c7eae5 #80cdc1 #35978f #01665e #003c30',
  PuOr: '#7f3b08 #b35806 #e08214 #fdb863 #fee0b6 #f7f7f7 #d8daeb #b2abd2 #8073ac #542788 #2d004b',
  RdBu: '#67001f #b2182b #d6604d #f4a582 #fddbc7 #f7f7f7 #d1e5f0 #92c5de #4393c3 #2166ac #053061',
  PRGn: '#40004b #762a83 #9970ab #c2a5cf #e7d4e8 #f7f7f7 #d9f0d3 #a6dba0 #5aae61 #1b7837 #00441b',
}

const qualitative = {
  Dark2: '#1b9e77 #d95f02 #7570b3 #e7298a #66a61e #e6ab02 #a6761d #666666',
  Set2: '#66c2a5 #fc8d62 #8da0cb #e78ac3 #a6d854 #ffd92f #e5c494 #b3b3b3',
  Paired: '#a6cee3 #1f78b4 #b2df8a #33a02c #fb9a99 #e31a1c #fdbf6f #ff7f00 #cab2d6 #6a3d9a #ffff99 #b15928',
}

export type RampName = keyof typeof sequential | keyof typeof diverging | keyof typeof qualitative

export interface Ramp {
  name: RampName
  kind: RampKind
  colours: readonly string[]
}

const rampsOf = (kind: RampKind, tables: Record<string, string>): Ramp[] =>
  Object.entries(tables).map(([name, text]) => ({ name: name as RampName, kind, colours: text.split(' ') }))

/** In display order. */
export const ramps: readonly Ramp[] = [
  ...rampsOf('sequential', sequential),
  ...rampsOf('diverging', diverging),
  ...rampsOf('qualitative', qualitative),
]

const byName = new Map(ramps.map((ramp) => [ramp.name, ramp]))
const [firstRamp] = ramps as [Ramp]

/** Falls back to the first ramp for unknown names, such as those of a later version. */
export const rampNamed = (name: RampName): Ramp => byName.get(name) ?? firstRamp
