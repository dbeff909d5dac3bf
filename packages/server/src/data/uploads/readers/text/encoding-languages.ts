/** A language as a detector of encodings knows it: its letters beyond ASCII, the most frequent first. */
export type Language = {
  readonly letters: string
  /** In the order in which they are to be preferred where the bytes do not decide. */
  readonly encodings: readonly string[]
  /** Most letters are those of ASCII. */
  readonly isLatin: boolean
}

const western = ['windows-1252', 'iso-8859-15', '850', '437', 'macintosh']
const nordic = [...western, '865']
const central = ['windows-1250', 'iso-8859-2', '852']
const baltic = ['windows-1257', 'iso-8859-13', '775']
const turkish = ['windows-1254', '857']
const russian = ['windows-1251', 'ibm866', 'koi8-r', 'iso-8859-5', 'x-mac-cyrillic']
const cyrillic = ['windows-1251', 'ibm866', 'iso-8859-5', 'koi8-u', 'x-mac-cyrillic']

const latin = (letters: string, encodings: readonly string[]): Language => ({ letters, encodings, isLatin: true })
const other = (letters: string, encodings: readonly string[]): Language => ({ letters, encodings, isLatin: false })

/** Those that are written with one byte a letter. The first two stand for names of many countries in one file. */
export const languages: readonly Language[] = [
  latin('éüöäáóíèñçãåøàêôâúëîïæßõòùìýûðþœ', nordic),
  latin('áéíóčšžöüäćńęąłśřěýúôđżőűăâîşţ', central),
  latin('üäöß', western),
  latin('éèêàçôâîûëïùœÿ', western),
  latin('óíáñéúü', western),
  latin('ãçáéíóõêúâôà', [...western, '860']),
  latin('àéóèíòçúïü', western),
  latin('àèòìùé', western),
  latin('äöåéü', western),
  latin('øåæéöä', nordic),
  latin('áíðóöéúþæý', [...western, '861']),
  latin('ëéïöèü', western),
  latin('õäüöšž', [...western, ...baltic]),
  latin('łóąężśćńź', central),
  latin('íáěéřšýčžůúňťďó', central),
  latin('áíéýčšžúľťňďôóäŕĺ', central),
  latin('éáöóőíüúű', central),
  latin('ăşţâî', central),
  latin('ășțâî', ['iso-8859-16']),
  latin('čšžćđ', central),
  latin('ıüşçöğİâ', turkish),
  latin('ėšųįžūčąę', baltic),
  latin('āīēšūņļžčģķ', baltic),
  other('оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё', russian),
  other('оаинвіретскдлмупязьбгчйхжцшюєїщфґ', cyrillic),
  other('аоеинтсрвлкдпмзбгущчцяъжйхюшфь', cyrillic),
  other('аоиенрстјуквмпдлзгбчћшжцхњљђфџ', cyrillic),
  other('αοιετσνηυρπκμλωςόίάδγθχέήώύβφξζψϊϋ', ['windows-1253', 'iso-8859-7', '737']),
  other('יוהלאמרנשתבדחקםגפסעזטכצןףךץ', ['windows-1255', 'iso-8859-8']),
  other('اليمنورتبةعدسفهكقأحجىشطخصإضءذغظآئزثؤپچگژکی', ['windows-1256', 'iso-8859-6']),
  other('านรอกเงมยลวดทสตะปบคหแจพชขใไโผถธซศณญษฎฐฉฟภฮ่้ิีุูั์ำ็ึื๊๋ๆฯ', ['windows-874']),
]

/** A range of lead bytes, the trail bytes that go with it, and how likely one of its characters is, as a logarithm. */
type Zone = readonly [lead: readonly [number, number], trail: readonly [number, number], score: number]

/** An encoding with two bytes a character: its zones, the first that fits counts, and its most frequent characters. */
export type DoubleByte = {
  readonly encoding: string
  readonly zones: readonly Zone[]
  /** Bytes that stand alone. */
  readonly single?: { readonly range: readonly [number, number]; readonly score: number }
  readonly common: ReadonlySet<string>
}

const [kana, usual, symbol, rare, odd] = [-5.6, -8, -9, -12, -13]

const japanese = new Set(
  'ーの市町村区県府都道北海東西南京大阪山川川田本島崎岡福長野森林原木石松竹中小高上下新宮城神谷池井津浜江沢橋口門丸号線駅国道路河港湾寺院学校園丁目台平和富士宿名古屋千葉埼玉秋青岩手形茨栃群潟梨静愛知重滋賀兵庫奈良歌鳥取根広徳香媛佐熊分児沖縄日一二三四五六七八九十郡字水地',
)
const simplified = new Set(
  '的一是市县区镇乡村路街道省州山河江湖海东西南北京上下中大小新城安阳平水州口湾岛港桥庄家店沟头岭峰川广福建云贵四湖浙苏徽吉辽黑龙蒙古宁夏青藏疆陕甘晋冀鲁豫津渝沪杭成都武汉长沙深圳天石李王张刘陈杨赵黄周吴徐孙马朱胡林郭何高罗国际公园学院校医站场厂',
)
const traditional = new Set(
  '的一是市縣區鎮鄉村里路街道省州山河江湖海東西南北京上下中大小新城安平水口灣島港橋莊家店溝頭嶺峰川臺台灣竹苗栗彰化雲林嘉義高雄屏宜蘭花蓮澎金門連桃園基隆國際公學院校醫站場段巷弄號號永和信義仁愛中正民權民生',
)
const korean = new Set(
  '시군구동리면읍도로길산천강대남북서부광주인경전충원성안신수정호장청상하중평양김이박역가나다라마사아자지기는을의에한해교공학초고등국제포울특별자치제영월화삼오일용금연종석진태창미세현구암곡당방문온',
)

export const doubleBytes: readonly DoubleByte[] = [
  {
    encoding: 'shift_jis',
    zones: [
      [[0x82, 0x82], [0x9f, 0xf1], kana],
      [[0x83, 0x83], [0x40, 0x96], kana],
      [[0x81, 0x84], [0x40, 0xfc], symbol],
      [[0x88, 0x97], [0x40, 0xfc], usual],
      [[0x98, 0xea], [0x40, 0xfc], rare],
      [[0x85, 0xfc], [0x40, 0xfc], odd],
    ],
    single: { range: [0xa1, 0xdf], score: symbol },
    common: japanese,
  },
  {
    encoding: 'euc-jp',
    zones: [
      [[0xa4, 0xa5], [0xa1, 0xfe], kana],
      [[0xb0, 0xcf], [0xa1, 0xfe], usual],
      [[0xa1, 0xa8], [0xa1, 0xfe], symbol],
      [[0xd0, 0xf4], [0xa1, 0xfe], rare],
    ],
    common: japanese,
  },
  {
    encoding: 'gbk',
    zones: [
      [[0xb0, 0xd7], [0xa1, 0xfe], usual],
      [[0xa1, 0xa9], [0xa1, 0xfe], -11],
      [[0xd8, 0xf7], [0xa1, 0xfe], rare],
      [[0x81, 0xfe], [0x40, 0xfe], odd],
    ],
    common: simplified,
  },
  {
    encoding: 'big5',
    zones: [
      [[0xa4, 0xc6], [0x40, 0xfe], usual],
      [[0xa1, 0xa3], [0x40, 0xfe], symbol],
      [[0xc9, 0xf9], [0x40, 0xfe], rare],
    ],
    common: traditional,
  },
  {
    encoding: 'euc-kr',
    zones: [
      [[0xb0, 0xc8], [0xa1, 0xfe], -7.6],
      [[0xa1, 0xac], [0xa1, 0xfe], symbol],
      [[0x81, 0xfe], [0x41, 0xfe], odd],
    ],
    common: korean,
  },
]
