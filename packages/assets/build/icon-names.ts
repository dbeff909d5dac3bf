/** What Protomaps styles call an icon, and the Maki icon that stands for it. */
export const aliases: Record<string, string> = {
  aerodrome: 'airport',
  animal: 'veterinary',
  artwork: 'art-gallery',
  atm: 'bank',
  beauty: 'hairdresser',
  bench: 'picnic-site',
  bicycle_parking: 'bicycle',
  books: 'library',
  bus_stop: 'bus',
  camp_site: 'campsite',
  clinic: 'doctor',
  clothes: 'clothing-store',
  drinking_water: 'drinking-water',
  electronics: 'mobile-phone',
  fast_food: 'fast-food',
  ferry_terminal: 'ferry',
  fire_station: 'fire-station',
  forest: 'park',
  hotel: 'lodging',
  mall: 'shop',
  marina: 'harbor',
  national_park: 'park-alt1',
  nature_reserve: 'park-alt1',
  peak: 'mountain',
  place_of_worship: 'place-of-worship',
  post_office: 'post',
  station: 'rail',
  supermarket: 'grocery',
  toilets: 'toilet',
  townhall: 'town-hall',
  train_station: 'rail',
  university: 'college',
}

type Ink = { ink: string; halo: string }
type Drawing = { name: string; width: number; height: number; svg: string }

/** Spots, stars and shields that Maki does not have. */
export function drawings({ ink, halo }: Ink): Drawing[] {
  const spot = `<circle cx="8" cy="8" r="4.6" fill="${halo}"/><circle cx="8" cy="8" r="3" fill="${halo}" stroke="${ink}" stroke-width="1.6"/>`
  const capital = `<circle cx="10" cy="10" r="8" fill="${halo}"/><circle cx="10" cy="10" r="6" fill="${halo}" stroke="${ink}" stroke-width="1.6"/><circle cx="10" cy="10" r="3" fill="${ink}"/>`
  const shields = [1, 2, 3, 4, 5].flatMap((length) =>
    ['generic_shield', 'US:I', 'NL:S-road'].map((name) => shield(`${name}-${length}char`, length)),
  )
  return [
    { name: 'townspot', width: 16, height: 16, svg: spot },
    { name: 'capital', width: 20, height: 20, svg: capital },
    ...shields,
  ]

  function shield(name: string, length: number): Drawing {
    const width = 12 + length * 6
    const svg = `<rect x="1" y="1" width="${width - 2}" height="16" rx="4" fill="${halo}" stroke="${ink}" stroke-width="1"/>`
    return { name, width, height: 18, svg }
  }
}
