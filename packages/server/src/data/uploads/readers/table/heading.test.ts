import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowsOf } from '../csv/rows.ts'
import { layoutOf } from './layout.ts'

const layout = (text: string, header?: boolean) => layoutOf(rowsOf(text, ','), { header })

const found = (text: string, header?: boolean): [string[], number, string[]] => {
  const { names, skippedRows, warnings } = layout(text, header)
  return [names, skippedRows, warnings.map(({ code }) => code).filter((code) => code === 'no_heading')]
}

const numbered = ['column_1', 'column_2', 'column_3']

test('a first row of the types of the others is data, and the upload says so', () => {
  for (const text of [
    'Bern,7.44,46.95\nThun,7.63,46.76\nBiel,7.25,47.14\n',
    '1,2024-01-31,a\n2,2024-02-01,b\n',
    '8.5,1.5,2.5\n3.5,9.5,1.25\n',
    'Ada,1815,true\nAlan,1912,false\n',
    'Ada,,1\nAlan,1912,2\nGrace,1906,5\n',
    '1,2,3\n4,5,6\n7,8,9\n',
  ])
    assert.deepEqual(found(text), [numbered, 0, ['no_heading']], text)
})

test('a first row that differs from the others in any column is the heading', () => {
  for (const [text, names] of [
    ['name,lon,lat\nBern,7.44,46.95\n', ['name', 'lon', 'lat']],
    ['first,second,third\na,b,c\nd,e,f\n', ['first', 'second', 'third']],
    ['country,2019,2020\nCH,8.5,8.6\nAT,8.8,8.9\n', ['country', '2019', '2020']],
    ['country,2024-01-31,2024-02-01\nCH,8,9\nAT,5,7\n', ['country', '2024-01-31', '2024-02-01']],
    ['gene,1,2,3\nx,5,5,9\ny,0,7,1\n', ['gene', '1', '2', '3']],
    ['2019,2020,2021\n8,5,7\n9,1,4\n', ['2019', '2020', '2021']],
    ['area,1969  ,1970  \nAlabama,2734 ,2962 \nAlaska,4769 ,5248 \n', ['area', '1969', '1970']],
    ['# a,b,c\n1,2.5,3\n8,9.5,2\n', ['# a', 'b', 'c']],
    ['id,1/22/20,1/23/20\n5,0,3\n7,1,2\n', ['id', '1/22/20', '1/23/20']],
  ] as const)
    assert.deepEqual(found(text), [[...names], 1, []], text)
})

test('the client decides whether there is a heading', () => {
  assert.deepEqual(found('Bern,7.44,46.95\nThun,7.63,46.76\n', true), [['Bern', '7.44', '46.95'], 1, []])
  assert.deepEqual(found('a,b,c\nd,e,f\n', false), [numbered, 0, []])
  assert.deepEqual(found('1,5,3\n4,5,6\n', true), [['1', '5', '3'], 1, []])
})

test('comments above the heading are stepped over, and a heading may begin with a hash', () => {
  assert.deepEqual(found('# Stations, of 2024\n# by the office, in Bern, and others\nname,lon,lat\nBern,7.4,46.9\n'), [
    ['name', 'lon', 'lat'],
    3,
    [],
  ])
  assert.deepEqual(found('#name,lon,lat\nBern,7.4,46.9\n'), [['#name', 'lon', 'lat'], 1, []])
})
