import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodedText } from '../../../../../testing/uploads/encoded-text.ts'
import { decoderOf } from './code-pages.ts'
import { detectEncoding } from './detect-encoding.ts'

/** Names of places and the encodings that files of the country come in. */
const places: Record<string, { names: string; encodings: string[] }> = {
  German: {
    names: 'Zürich Köln München Düsseldorf Straße Österreich Größe Nürnberg Saarbrücken Bäckerei',
    encodings: ['windows-1252', '850', '437'],
  },
  French: {
    names: 'Orléans Besançon Nîmes Évreux Saint-Étienne Forêt Mâcon Sète Rhône Hérault Ardèche Angoulême',
    encodings: ['windows-1252', '850', 'macintosh'],
  },
  Spanish: {
    names: 'Málaga Cádiz Córdoba Logroño Almería León Cáceres Ávila España Jaén',
    encodings: ['windows-1252', '850'],
  },
  Portuguese: {
    names: 'São Paulo Conceição Brasília Goiânia Belém Florianópolis Maceió Ceará',
    encodings: ['windows-1252', '860'],
  },
  Finnish: {
    names: 'Jyväskylä Hämeenlinna Äänekoski Mäntsälä Seinäjoki Pöytyä Närpiö',
    encodings: ['windows-1252', '850'],
  },
  Danish: {
    names: 'København Århus Ærø Rødovre Næstved Køge Sønderborg Fåborg',
    encodings: ['windows-1252', '850', '865'],
  },
  Icelandic: {
    names: 'Reykjavík Kópavogur Akranes Höfn Ísafjörður Þingvellir Seyðisfjörður Húsavík',
    encodings: ['windows-1252'],
  },
  Polish: {
    names: 'Łódź Kraków Gdańsk Wrocław Poznań Białystok Częstochowa Rzeszów Świętokrzyskie Żory',
    encodings: ['windows-1250', 'iso-8859-2', '852'],
  },
  Czech: {
    names: 'Plzeň Ústí České Budějovice Hradec Králové Jindřichův Žďár Třebíč Děčín Přerov',
    encodings: ['windows-1250', 'iso-8859-2', '852'],
  },
  Hungarian: {
    names: 'Győr Székesfehérvár Kecskemét Nyíregyháza Pécs Hódmezővásárhely Gödöllő Szűcs',
    encodings: ['windows-1250', '852'],
  },
  Romanian: {
    names: 'Iaşi Constanţa Braşov Galaţi Piteşti Târgu Mureş Bacău Buzău Brăila',
    encodings: ['windows-1250'],
  },
  Croatian: {
    names: 'Šibenik Čakovec Požega Đakovo Križevci Poreč Varaždin Bjelovar Našice Gospić',
    encodings: ['windows-1250', '852'],
  },
  Turkish: {
    names: 'İstanbul Kadıköy Beşiktaş Eskişehir Diyarbakır Muğla Çanakkale Şanlıurfa Iğdır Üsküdar',
    encodings: ['windows-1254', '857'],
  },
  Lithuanian: {
    names: 'Šiauliai Panevėžys Mažeikiai Kėdainiai Telšiai Utena Plungė Tauragė Jonavą Širvintų',
    encodings: ['windows-1257', '775'],
  },
  Latvian: {
    names: 'Rīga Liepāja Jūrmala Rēzekne Ogre Jēkabpils Ķekava Ādaži Mārupe Cēsis',
    encodings: ['windows-1257', '775'],
  },
  Russian: {
    names: 'Москва Новосибирск Екатеринбург Казань Ростов-на-Дону улица Ленина Ярославль',
    encodings: ['windows-1251', 'ibm866', 'koi8-r', 'iso-8859-5'],
  },
  Ukrainian: {
    names: 'Київ Харків Львів Запоріжжя Дніпро Миколаїв Вінниця Чернівці Хмельницький',
    encodings: ['windows-1251'],
  },
  Bulgarian: {
    names: 'София Пловдив Варна Бургас Русе Стара Загора Плевен Сливен Търново',
    encodings: ['windows-1251'],
  },
  Serbian: {
    names: 'Београд Нови Сад Крагујевац Суботица Панчево Чачак Краљево Ниш Ужице',
    encodings: ['windows-1251'],
  },
  Greek: {
    names: 'Αθήνα Θεσσαλονίκη Πάτρα Ηράκλειο Λάρισα Βόλος Ιωάννινα Χανιά Ρόδος',
    encodings: ['windows-1253', '737'],
  },
  Hebrew: { names: 'ירושלים תל אביב חיפה באר שבע נתניה אשדוד רחובות', encodings: ['windows-1255'] },
  Arabic: { names: 'القاهرة الإسكندرية الجيزة بغداد دمشق الرياض المدينة عمان', encodings: ['windows-1256'] },
  Thai: { names: 'กรุงเทพ เชียงใหม่ ภูเก็ต ขอนแก่น นครราชสีมา', encodings: ['windows-874'] },
  Japanese: {
    names: '東京都 大阪府 横浜市 札幌市 名古屋市 さいたま市 つくば 渋谷区 千代田区 センター',
    encodings: ['shift_jis', 'euc-jp'],
  },
  Chinese: { names: '北京市 上海市 广州 深圳市 成都市 武汉 西安 杭州市 朝阳区 海淀区 人民路', encodings: ['gbk'] },
  'traditional Chinese': { names: '臺北市 高雄市 臺中市 新竹縣 花蓮縣 信義區 中山路 忠孝東路', encodings: ['big5'] },
  Korean: { names: '서울특별시 부산광역시 대구 인천 광주 강남구 종로구 해운대구 수원시 제주', encodings: ['euc-kr'] },
  'Western European': {
    names: 'Åland Côte Curaçao São Tomé Réunion Türkiye Österreich España México',
    encodings: ['windows-1252'],
  },
}

for (const [language, { names, encodings }] of Object.entries(places)) {
  for (const encoding of encodings) {
    test(`${language} names in ${encoding} are recognised`, () => {
      const bytes = encodedText(names, encoding)
      const found = detectEncoding(bytes)
      assert.equal(decoderOf(found)(bytes), names, `taken for ${found}`)
    })
  }
}

const single: [string, string][] = [
  ['Zürich', 'windows-1252'],
  ['Málaga', 'windows-1252'],
  ['Besançon', 'windows-1252'],
  ['København', 'windows-1252'],
  ['Zürich', '850'],
  ['Łódź', 'windows-1250'],
  ['Kadıköy', 'windows-1254'],
  ['Москва', 'windows-1251'],
  ['Москва', 'ibm866'],
  ['Αθήνα', 'windows-1253'],
  ['東京都', 'shift_jis'],
  ['北京市', 'gbk'],
  ['臺北市', 'big5'],
  ['서울특별시', 'euc-kr'],
]

for (const [name, encoding] of single) {
  test(`the single name ${name} in ${encoding} is recognised`, () => {
    const bytes = encodedText(name, encoding)
    const found = detectEncoding(bytes)
    assert.equal(decoderOf(found)(bytes), name, `taken for ${found}`)
  })
}

test('capitals are recognised like small letters', () => {
  for (const [name, encoding] of [
    ['ŁÓDŹ KRAKÓW', 'windows-1250'],
    ['МОСКВА КАЗАНЬ', 'windows-1251'],
    ['МОСКВА КАЗАНЬ', 'ibm866'],
    ['ZÜRICH KÖLN', '850'],
  ] as const) {
    const bytes = encodedText(name, encoding)
    assert.equal(decoderOf(detectEncoding(bytes))(bytes), name)
  }
})

test('bytes that are no text at all are Western', () => {
  assert.equal(typeof decoderOf(detectEncoding(Buffer.from([0xff, 0xfe, 0x80, 0x81, 0x8d])))(Buffer.alloc(1)), 'string')
  assert.equal(detectEncoding(Buffer.alloc(0)), 'windows-1252')
})
