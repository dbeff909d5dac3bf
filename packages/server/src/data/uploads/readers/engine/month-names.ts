/** The names of months, whole or cut, in the languages that files come in. */
const languages = [
  'january february march april may june july august september october november december',
  'januar februar märz april mai juni juli august september oktober november dezember',
  'jänner feber maerz april mai juni juli august september oktober november dezember',
  'janvier février mars avril mai juin juillet août septembre octobre novembre décembre',
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre',
  'gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre',
  'janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro',
  'januari februari maart april mei juni juli augustus september oktober november december',
  'januari februari mars april maj juni juli augusti september oktober november december',
  'januar februar marts april maj juni juli august september oktober november desember',
  'stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia',
  'января февраля марта апреля мая июня июля августа сентября октября ноября декабря',
]

const fold = (name: string): string => name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()

const months = languages.flatMap((names) => names.split(' ').map((name, index) => [fold(name), index + 1] as const))
const shortest = 3

/** The number of the month that is called so, or whose name begins so; undefined when there is none, or more than one. */
export function monthNamed(text: string): number | undefined {
  const name = fold(text)
  if (name.length < shortest) return undefined
  const exact = months.find(([whole]) => whole === name)
  if (exact) return exact[1]
  const begun = new Set(months.flatMap(([whole, month]) => (whole.startsWith(cut(name)) ? [month] : [])))
  return begun.size === 1 ? [...begun][0] : undefined
}

/** September is also cut to four letters, and to ones of its own in English: Sept. */
const cut = (name: string): string => (name === 'sept' ? 'sep' : name)
