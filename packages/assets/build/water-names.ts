/** Oceans and seas: longitude, latitude, first zoom level, then English, German, French and Spanish. */
export const seas = `
-38 27 0|Atlantic Ocean|Atlantischer Ozean|Océan Atlantique|Océano Atlántico
-150 14 0|Pacific Ocean|Pazifischer Ozean|Océan Pacifique|Océano Pacífico
79 -26 0|Indian Ocean|Indischer Ozean|Océan Indien|Océano Índico
-10 83 1|Arctic Ocean|Arktischer Ozean|Océan Arctique|Océano Ártico
20 -60 1|Southern Ocean|Südlicher Ozean|Océan Austral|Océano Antártico
-15 -30 2|South Atlantic|Südatlantik|Atlantique Sud|Atlántico Sur
-120 -28 2|South Pacific|Südpazifik|Pacifique Sud|Pacífico Sur
18 35.2 3|Mediterranean Sea|Mittelmeer|Mer Méditerranée|Mar Mediterráneo
-75 14.8 3|Caribbean Sea|Karibisches Meer|Mer des Caraïbes|Mar Caribe
-90 25.3 3|Gulf of Mexico|Golf von Mexiko|Golfe du Mexique|Golfo de México
34.5 43.3 4|Black Sea|Schwarzes Meer|Mer Noire|Mar Negro
3.2 56.3 4|North Sea|Nordsee|Mer du Nord|Mar del Norte
19.3 57.2 5|Baltic Sea|Ostsee|Mer Baltique|Mar Báltico
0 68 3|Norwegian Sea|Europäisches Nordmeer|Mer de Norvège|Mar de Noruega
-8 76 3|Greenland Sea|Grönlandsee|Mer du Groenland|Mar de Groenlandia
40 74.5 3|Barents Sea|Barentssee|Mer de Barents|Mar de Barents
78 75.5 3|Kara Sea|Karasee|Mer de Kara|Mar de Kara
125 76 3|Laptev Sea|Laptewsee|Mer de Laptev|Mar de Láptev
162 72.5 4|East Siberian Sea|Ostsibirische See|Mer de Sibérie orientale|Mar de Siberia Oriental
-140 72.5 4|Beaufort Sea|Beaufortsee|Mer de Beaufort|Mar de Beaufort
-178 58.5 3|Bering Sea|Beringmeer|Mer de Béring|Mar de Bering
150 54.5 3|Sea of Okhotsk|Ochotskisches Meer|Mer d’Okhotsk|Mar de Ojotsk
134.5 39.8 4|Sea of Japan|Japanisches Meer|Mer du Japon|Mar del Japón
123.3 35.5 5|Yellow Sea|Gelbes Meer|Mer Jaune|Mar Amarillo
125.3 29 4|East China Sea|Ostchinesisches Meer|Mer de Chine orientale|Mar de la China Oriental
114 13.5 3|South China Sea|Südchinesisches Meer|Mer de Chine méridionale|Mar de la China Meridional
133 18.5 3|Philippine Sea|Philippinensee|Mer des Philippines|Mar de Filipinas
121.5 3.8 5|Celebes Sea|Celebessee|Mer de Célèbes|Mar de Célebes
112 -5 5|Java Sea|Javasee|Mer de Java|Mar de Java
127 -6 5|Banda Sea|Bandasee|Mer de Banda|Mar de Banda
134.5 -9.4 5|Arafura Sea|Arafurasee|Mer d’Arafura|Mar de Arafura
124 -11.5 5|Timor Sea|Timorsee|Mer de Timor|Mar de Timor
155 -17 4|Coral Sea|Korallenmeer|Mer de Corail|Mar del Coral
160 -39 3|Tasman Sea|Tasmansee|Mer de Tasman|Mar de Tasmania
130 -34.3 4|Great Australian Bight|Große Australische Bucht|Grande Baie australienne|Gran Bahía Australiana
88.5 14 3|Bay of Bengal|Golf von Bengalen|Golfe du Bengale|Golfo de Bengala
63 14.5 3|Arabian Sea|Arabisches Meer|Mer d’Arabie|Mar Arábigo
38.3 20.5 4|Red Sea|Rotes Meer|Mer Rouge|Mar Rojo
51.3 27.2 5|Persian Gulf|Persischer Golf|Golfe Persique|Golfo Pérsico
48 12.3 5|Gulf of Aden|Golf von Aden|Golfe d’Aden|Golfo de Adén
96 10 5|Andaman Sea|Andamanensee|Mer d’Andaman|Mar de Andamán
101 9.3 5|Gulf of Thailand|Golf von Thailand|Golfe de Thaïlande|Golfo de Tailandia
41.2 -19.5 4|Mozambique Channel|Straße von Mosambik|Canal du Mozambique|Canal de Mozambique
2 2.3 4|Gulf of Guinea|Golf von Guinea|Golfe de Guinée|Golfo de Guinea
-4.3 45.4 5|Bay of Biscay|Golf von Biskaya|Golfe de Gascogne|Golfo de Vizcaya
12 39.9 5|Tyrrhenian Sea|Tyrrhenisches Meer|Mer Tyrrhénienne|Mar Tirreno
15.4 43.1 6|Adriatic Sea|Adria|Mer Adriatique|Mar Adriático
18.9 37.9 6|Ionian Sea|Ionisches Meer|Mer Ionienne|Mar Jónico
25.2 38.9 6|Aegean Sea|Ägäis|Mer Égée|Mar Egeo
-85.5 60 3|Hudson Bay|Hudson Bay|Baie d’Hudson|Bahía de Hudson
-67.5 73.5 4|Baffin Bay|Baffin Bay|Baie de Baffin|Bahía de Baffin
-54 58 4|Labrador Sea|Labradorsee|Mer du Labrador|Mar del Labrador
-64 29 4|Sargasso Sea|Sargassosee|Mer des Sargasses|Mar de los Sargazos
-146 57.5 4|Gulf of Alaska|Golf von Alaska|Golfe d’Alaska|Golfo de Alaska
-111.3 26.6 6|Gulf of California|Golf von Kalifornien|Golfe de Californie|Golfo de California
-47 -57 4|Scotia Sea|Scotiasee|Mer de Scotia|Mar del Scotia
-45 -72.5 3|Weddell Sea|Weddellmeer|Mer de Weddell|Mar de Weddell
-175 -75.5 3|Ross Sea|Rossmeer|Mer de Ross|Mar de Ross
`

/** Lakes, in the same form. */
export const lakes = `
50.6 41.9 3|Caspian Sea|Kaspisches Meer|Mer Caspienne|Mar Caspio
-87.8 47.7 4|Lake Superior|Oberer See|Lac Supérieur|Lago Superior
-87 43.6 5|Lake Michigan|Michigansee|Lac Michigan|Lago Míchigan
-82.3 44.7 5|Lake Huron|Huronsee|Lac Huron|Lago Hurón
-81.2 42.2 6|Lake Erie|Eriesee|Lac Érié|Lago Erie
-77.8 43.65 6|Lake Ontario|Ontariosee|Lac Ontario|Lago Ontario
33 -1.2 4|Lake Victoria|Victoriasee|Lac Victoria|Lago Victoria
29.5 -6.2 5|Lake Tanganyika|Tanganjikasee|Lac Tanganyika|Lago Tanganica
34.5 -11.8 5|Lake Malawi|Malawisee|Lac Malawi|Lago Malaui
108.2 53.6 5|Lake Baikal|Baikalsee|Lac Baïkal|Lago Baikal
-121 66 5|Great Bear Lake|Großer Bärensee|Grand lac de l’Ours|Gran Lago del Oso
-114 61.7 5|Great Slave Lake|Großer Sklavensee|Grand lac des Esclaves|Gran Lago del Esclavo
-97.9 52.3 6|Lake Winnipeg|Winnipegsee|Lac Winnipeg|Lago Winnipeg
31.4 60.9 5|Lake Ladoga|Ladogasee|Lac Ladoga|Lago Ládoga
35.4 61.7 6|Lake Onega|Onegasee|Lac Onega|Lago Onega
13.3 58.9 6|Vänern|Vänern|Vänern|Vänern
74.5 46.3 6|Lake Balkhash|Balchaschsee|Lac Balkhach|Lago Baljash
77.3 42.4 6|Issyk-Kul|Yssykköl|Issyk-Koul|Issyk-Kul
59.6 45.1 6|Aral Sea|Aralsee|Mer d’Aral|Mar de Aral
-69.4 -15.8 5|Lake Titicaca|Titicacasee|Lac Titicaca|Lago Titicaca
-85.4 11.6 6|Lake Nicaragua|Nicaraguasee|Lac Nicaragua|Lago de Nicaragua
36.1 3.6 6|Lake Turkana|Turkanasee|Lac Turkana|Lago Turkana
43 38.6 6|Lake Van|Vansee|Lac de Van|Lago Van
-112.5 41.2 6|Great Salt Lake|Großer Salzsee|Grand Lac Salé|Gran Lago Salado
100.1 36.9 6|Qinghai Lake|Qinghai-See|Lac Qinghai|Lago Qinghai
`
