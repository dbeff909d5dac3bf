/** What the name of an attribute says of its values, in the languages that data often come in. */

/** Splits camelCase, snake_case and the like into lower-case words without accents: `PopTotal_2020` → pop total 2020. */
const wordsOf = (name: string): string[] =>
  name
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+|(?<=\p{L})(?=\p{N})/u)
    .filter(Boolean)

const hasWord =
  (text: string) =>
  (name: string): boolean => {
    const words = new Set(text.split(' '))
    return wordsOf(name).some((word) => words.has(word))
  }

const isWhole =
  (text: string) =>
  (name: string): boolean =>
    text.split(' ').includes(wordsOf(name).join(''))

const hasIdWord = hasWord(
  'id ids fid gid oid uid uuid guid objectid ogcfid osm code codes kennung kennziffer schluessel schlussel ags bfs nuts iso fips zip plz postcode postal postleitzahl cap phone telefon tel fax ref key pk isbn ean wikidata geoid geonameid nummer hausnummer egid',
)
const isIdName = isWhole('nr no num number index idx n row rowid rownum ordinal order sort version rev revision i j')
/** A key, a code, a number of a thing: an order or a mean of these says nothing. */
export const isIdentifier = (name: string): boolean => hasIdWord(name) || isIdName(name)

/** The map shows where things are. */
export const isPosition = (name: string): boolean =>
  isWhole(
    'x y z e lat lon lng long latitude longitude easting northing xcoord ycoord coordx coordy breite lange ost nord',
  )(name) || hasWord('latitude longitude lat lon lng easting northing rechtswert hochwert xmin xmax ymin ymax')(name)

/** The map shows how large things are, and exports write it unasked. */
export const isMeasuredGeometry = (name: string): boolean =>
  /^(st_?)?(shape|geom|geometry)_?(st_?)?(area|len|length|leng|perimeter)/i.test(name) ||
  isWhole('area perimeter length len leng shapearea shapelength shapeleng starea stlength flache laenge lange umfang')(
    name,
  )

export const isYear = hasWord('year years jahr baujahr annee ano anno rok vuosi yr')

/** Of the record, not of the thing: when it was edited, how it is drawn, how well it was measured. */
export const isBookkeeping = hasWord(
  'created updated modified edited timestamp changed inserted editor user scalerank labelrank rank zoom minzoom maxzoom featurecla checksum hash source quelle remark comment bemerkung url link website email mail error errors uncertainty accuracy stddev rms gap nst',
)

/** What people make maps of. */
export const isMeasureName = hasWord(
  'pop population einwohner inhabitants habitants poblacion befolkning count total sum anzahl amount value wert price preis prix rent miete income lohn gdp bip cost kosten sales revenue umsatz rate quote share anteil percent percentage pct prozent ratio density dichte index score temperature temp elevation height hohe altitude depth tiefe mag magnitude speed capacity kapazitat volume menge visits passengers traffic turnout emissions co2 no2 pm10 level intensity duration age alter rainfall precipitation',
)

/** How many of something there are, which a size shows well; not shares and heights. */
export const isAmountName = hasWord(
  'pop population einwohner inhabitants habitants poblacion befolkning count total sum anzahl amount capacity kapazitat volume menge visits passengers traffic sales revenue umsatz mag magnitude',
)

export const isKindName = hasWord(
  'type typ kind class klasse category kategorie categorie art status state zone party partei landuse nutzung region continent kontinent group gruppe level stufe use surface belag material severity risk species genus line linie operator',
)

export const isTitle = isWhole('name title label bezeichnung nom nombre titel names nimi naam navn namn nome fullname')
export const isTitleLike = hasWord('name title label bezeichnung nom nombre titel nimi naam navn namn nome')
