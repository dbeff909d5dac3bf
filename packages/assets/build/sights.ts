/** Mountains: longitude, latitude, first zoom level, height in metres, name. */
export const peaks = `
86.925 27.988 3 8849 Mount Everest
76.513 35.881 4 8611 K2
81.5 28.697 5 8167 Dhaulagiri
74.589 35.237 5 8126 Nanga Parbat
88.147 27.703 6 8586 Kangchenjunga
83.82 28.596 6 8091 Annapurna
101.879 29.596 5 7556 Gongga Shan
80.125 42.035 5 7439 Jengish Chokusu
72.016 38.943 5 7495 Ismoil Somoni Peak
-70.011 -32.653 3 6961 Aconcagua
-68.54 -27.109 5 6893 Ojos del Salado
-77.604 -9.122 5 6768 Huascarán
-78.817 -1.469 5 6263 Chimborazo
-67.763 -16.637 6 6438 Illimani
-73.688 10.838 6 5775 Pico Cristóbal Colón
-71.045 8.541 6 4978 Pico Bolívar
-73.08 -49.271 5 3405 Fitz Roy
-151.006 63.069 3 6190 Denali
-140.403 60.567 5 5959 Mount Logan
-118.292 36.578 5 4421 Mount Whitney
-121.76 46.853 5 4392 Mount Rainier
-106.445 39.118 5 4401 Mount Elbert
-105.044 38.841 6 4302 Pikes Peak
-119.156 53.11 5 3954 Mount Robson
-97.269 19.03 5 5636 Pico de Orizaba
-98.622 19.023 6 5393 Popocatépetl
-155.468 19.821 5 4207 Mauna Kea
-71.303 44.271 6 1917 Mount Washington
-82.265 35.765 6 2037 Mount Mitchell
-29.9 68.919 5 3694 Gunnbjørn Fjeld
6.865 45.833 4 4806 Mont Blanc
7.658 45.976 6 4478 Matterhorn
12.694 47.075 6 3798 Großglockner
10.985 47.421 6 2962 Zugspitze
42.439 43.353 4 5642 Elbrus
44.518 42.697 6 5054 Kazbek
44.298 39.702 5 5137 Mount Ararat
14.993 37.751 5 3357 Etna
22.359 40.085 5 2918 Mount Olympus
-3.311 37.053 5 3479 Mulhacén
-0.034 42.667 6 3355 Monte Perdido
0.657 42.631 6 3404 Aneto
8.313 61.636 5 2469 Galdhøpiggen
-5.003 56.797 6 1345 Ben Nevis
-16.642 64.014 6 2110 Hvannadalshnúkur
20.134 49.179 6 2655 Gerlachovský štít
23.585 42.179 6 2925 Musala
-16.643 28.273 5 3715 Teide
52.11 35.955 4 5610 Damavand
37.353 -3.067 3 5895 Kilimanjaro
37.308 -0.151 5 5199 Mount Kenya
29.872 0.386 6 5109 Mount Stanley
38.369 13.236 5 4550 Ras Dashen
9.17 4.203 5 4040 Mount Cameroon
-7.915 31.06 5 4167 Toubkal
5.533 23.288 5 2908 Tahat
29.443 -29.468 6 3482 Thabana Ntlenyana
46.74 -18.9 6 2643 Tsiafajavona
55.478 -21.1 6 3070 Piton des Neiges
138.727 35.361 4 3776 Mount Fuji
120.957 23.47 6 3952 Yushan
128.077 42.006 6 2744 Paektu
160.642 56.056 4 4754 Klyuchevskaya Sopka
86.59 49.807 5 4506 Belukha
102 51.71 6 3491 Munku-Sardyk
60.115 65.031 5 1895 Narodnaya
116.558 6.075 5 4095 Mount Kinabalu
101.264 -1.697 6 3805 Kerinci
116.457 -8.411 6 3726 Rinjani
112.922 -8.108 6 3676 Semeru
137.158 -4.078 4 4884 Puncak Jaya
148.263 -36.456 4 2228 Mount Kosciuszko
170.142 -43.595 4 3724 Aoraki / Mount Cook
175.568 -39.282 6 2797 Ruapehu
-85.617 -78.525 3 4892 Vinson Massif
167.153 -77.529 4 3794 Mount Erebus
`

/** Airports: longitude, latitude, first zoom level, code, name. */
export const airports = `
-84.428 33.637 6 ATL Atlanta
-0.454 51.47 6 LHR London Heathrow
2.548 49.01 6 CDG Paris Charles de Gaulle
8.571 50.033 6 FRA Frankfurt
4.764 52.309 6 AMS Amsterdam Schiphol
11.786 48.354 6 MUC Munich
16.57 48.11 6 VIE Vienna
8.549 47.458 6 ZRH Zurich
-3.567 40.472 6 MAD Madrid Barajas
12.251 41.8 6 FCO Rome Fiumicino
12.656 55.618 6 CPH Copenhagen
24.963 60.317 6 HEL Helsinki
11.1 60.194 6 OSL Oslo
-21.942 63.985 6 KEF Keflavík
28.752 41.275 6 IST Istanbul
55.364 25.253 6 DXB Dubai
51.608 25.273 6 DOH Doha
31.406 30.122 6 CAI Cairo
38.799 8.978 6 ADD Addis Ababa
36.928 -1.319 6 NBO Nairobi
28.246 -26.139 6 JNB Johannesburg
18.602 -33.965 6 CPT Cape Town
3.321 6.577 6 LOS Lagos
-7.59 33.368 6 CMN Casablanca
77.1 28.556 6 DEL Delhi
72.868 19.089 6 BOM Mumbai
103.994 1.364 6 SIN Singapore Changi
100.751 13.69 6 BKK Bangkok
106.656 -6.126 6 CGK Jakarta
113.915 22.308 6 HKG Hong Kong
116.585 40.08 6 PEK Beijing
121.805 31.143 6 PVG Shanghai Pudong
126.451 37.463 6 ICN Seoul Incheon
139.781 35.549 6 HND Tokyo Haneda
151.177 -33.946 6 SYD Sydney
144.843 -37.673 6 MEL Melbourne
174.785 -37.008 6 AKL Auckland
-73.779 40.64 6 JFK New York JFK
-87.905 41.979 6 ORD Chicago O’Hare
-104.673 39.856 6 DEN Denver
-118.408 33.943 6 LAX Los Angeles
-122.375 37.619 6 SFO San Francisco
-122.309 47.449 6 SEA Seattle
-149.996 61.174 6 ANC Anchorage
-80.29 25.793 6 MIA Miami
-97.038 32.897 6 DFW Dallas
-79.63 43.677 6 YYZ Toronto
-123.184 49.194 6 YVR Vancouver
-99.072 19.436 6 MEX Mexico City
-74.147 4.702 6 BOG Bogotá
-77.114 -12.022 6 LIM Lima
-46.473 -23.432 6 GRU São Paulo
-58.536 -34.822 6 EZE Buenos Aires
-70.786 -33.393 6 SCL Santiago
-157.922 21.319 6 HNL Honolulu
37.415 55.973 6 SVO Moscow Sheremetyevo
`

/** Sights: longitude, latitude, first zoom level, kind, name. */
export const attractions = `
31.134 29.979 5 attraction Pyramids of Giza
35.444 30.329 6 attraction Petra
103.867 13.412 5 attraction Angkor Wat
-72.545 -13.163 5 attraction Machu Picchu
-88.568 20.684 6 attraction Chichén Itzá
78.042 27.175 6 attraction Taj Mahal
-1.826 51.179 6 attraction Stonehenge
117.23 40.432 6 attraction Great Wall
-75.13 -14.739 6 attraction Nazca Lines
110.204 -7.608 6 attraction Borobudur
131.037 -25.345 4 attraction Uluru
-109.349 -27.121 5 attraction Rapa Nui
25.855 -17.924 5 attraction Victoria Falls
-54.437 -25.695 5 attraction Iguazú Falls
-79.075 43.08 6 attraction Niagara Falls
-62.535 5.97 6 attraction Angel Falls
-112.113 36.107 5 attraction Grand Canyon
-110.548 44.6 4 park Yellowstone
-119.538 37.865 6 park Yosemite
-116.166 51.497 6 park Banff
34.833 -2.333 4 park Serengeti
31.555 -23.988 5 park Kruger
15.9 -18.85 5 park Etosha
-80.9 25.4 6 park Everglades
-90.5 -0.6 4 park Galápagos
147.7 -18.286 4 park Great Barrier Reef
167.1 -45.4 5 park Fiordland
-72.99 -51 5 park Torres del Paine
22.8 -19.3 6 park Okavango Delta
`
