import type { Feature } from 'geojson'
import { contourGrid, type Picture, readEarthPicture } from './debian-data.ts'

/** From dark green to bright sand: the red of NASA’s picture tells how much grows. */
const kinds = [
  { kind: 'forest', from: 1 },
  { kind: 'farmland', from: 53 },
  { kind: 'grassland', from: 76 },
  { kind: 'scrub', from: 114 },
  { kind: 'barren', from: 180 },
]
const unknown = -60

/** What covers the land, drawn generously over the coasts: the sea lies above it. */
export async function readLandCover(): Promise<Feature[]> {
  const picture = await readEarthPicture()
  const isWater = waterMask(picture)
  const red = spread(channel(picture, 0), isWater, picture.width)
  const blue = spread(channel(picture, 2), isWater, picture.width)
  // Sand is as bright as ice but not as blue; a mixed pixel of the coast is as blue but not as bright.
  const white = blue.map((value, pixel) => {
    const brightness = red[pixel] ?? unknown
    return value === unknown ? unknown : Math.min(3 * value - 2 * brightness, brightness)
  })
  const growth = await contourGrid(
    'growth',
    red,
    picture.width,
    kinds.map(({ from }) => from),
  )
  const ice = await contourGrid('ice', white, picture.width, [160])
  return [
    ...growth.map(({ geometry, properties }) =>
      cover(geometry, kinds.findLast(({ from }) => properties?.low >= from)?.kind),
    ),
    ...ice.map(({ geometry }) => cover(geometry, 'glacier')),
  ].filter(({ properties }) => properties?.kind)
}

const cover = (geometry: Feature['geometry'], kind: string | undefined): Feature => ({
  type: 'Feature',
  properties: { kind, sort_rank: 1 },
  geometry,
})

function channel({ rgb }: Picture, offset: number): Float32Array {
  return Float32Array.from({ length: rgb.length / 3 }, (_, pixel) => rgb[pixel * 3 + offset] ?? 0)
}

function waterMask({ rgb }: Picture): Uint8Array {
  return Uint8Array.from({ length: rgb.length / 3 }, (_, pixel) => {
    const [red, green, blue] = [rgb[pixel * 3] ?? 0, rgb[pixel * 3 + 1] ?? 0, rgb[pixel * 3 + 2] ?? 0]
    return blue > green && blue > red && red < 120 ? 1 : 0
  })
}

/** Smooths the land, and lets it run out into the sea by some pixels. */
function spread(values: Float32Array, isWater: Uint8Array, width: number): Float32Array {
  let weights: Float32Array = Float32Array.from(isWater, (water) => 1 - water)
  let sums: Float32Array = values.map((value, pixel) => value * (weights[pixel] ?? 0))
  for (let round = 0; round < 2; round++) [sums, weights] = [blur(sums, width), blur(weights, width)]
  let result: Float32Array = sums.map((sum, pixel) =>
    (weights[pixel] ?? 0) > 0.02 ? sum / (weights[pixel] ?? 1) : unknown,
  )
  for (let round = 0; round < 6; round++) result = grow(result, width)
  return result
}

/** The mean of 3 × 3 pixels. */
const blur = (values: Float32Array, width: number): Float32Array => ofThree(ofThree(values, 1), width)

const ofThree = (values: Float32Array, step: number): Float32Array =>
  values.map((value, pixel) => ((values[pixel - step] ?? value) + value + (values[pixel + step] ?? value)) / 3)

/** Gives a pixel without a value the mean of its neighbours that have one. */
function grow(values: Float32Array, width: number): Float32Array {
  const steps = [-width - 1, -width, -width + 1, -1, 1, width - 1, width, width + 1]
  return values.map((value, pixel) => {
    if (value !== unknown) return value
    let sum = 0
    let count = 0
    for (const step of steps) {
      const other = values[pixel + step] ?? unknown
      if (other === unknown) continue
      sum += other
      count++
    }
    return count === 0 ? unknown : sum / count
  })
}
