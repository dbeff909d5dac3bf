import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coordinateText, latitudeLabel, longitudeLabel, tickStep, ticksBetween, wrappedLongitude } from './graticule.ts'

const mapPixelsPerDegree = (zoom: number) => (512 * 2 ** zoom) / 360

test('ticks are as far apart as labels need, and no farther than the next nice step', () => {
  const steps = [0, 1, 2, 3, 5, 8, 12, 16, 20].map((zoom) => tickStep(mapPixelsPerDegree(zoom), 70))
  assert.deepEqual(steps, [60, 30, 15, 10, 2, 0.2, 0.02, 0.001, 0.00005])
  for (let zoom = 0; zoom < 22; zoom += 0.1) {
    const scale = mapPixelsPerDegree(zoom)
    const step = tickStep(scale, 70)
    assert.ok(step === 90 || step * scale >= 70, `zoom ${zoom}: ${step}`)
  }
})

test('ticks are multiples of the step and carry no error of floating point', () => {
  assert.deepEqual(ticksBetween(-12, 21, 10), [-10, 0, 10, 20])
  assert.deepEqual(ticksBetween(0.05, 0.42, 0.1), [0.1, 0.2, 0.3, 0.4])
  assert.deepEqual(ticksBetween(5, 9, 10), [])
  assert.deepEqual(ticksBetween(150, 215, 30), [150, 180, 210])
})

test('labels name the side, the date line and the digits of the step', () => {
  const labels = [-10, 0, 8, 180, -180, 190, 210].map((longitude) => longitudeLabel(longitude, 10))
  assert.deepEqual(labels, ['10°W', '0°', '8°E', '180°', '180°', '170°W', '150°W'])
  assert.equal(longitudeLabel(8.5, 0.5), '8.5°E')
  assert.equal(latitudeLabel(-33.92, 0.02), '33.92°S')
  assert.equal(latitudeLabel(60, 15), '60°N')
  assert.equal(wrappedLongitude(-190), 170)
})

test('the coordinate has more digits the nearer the map is', () => {
  assert.equal(coordinateText(8.5412, 47.3712, 3), '8.54° E 47.37° N')
  assert.equal(coordinateText(-70.64321987, -33.45678912, 15), '70.64322° W 33.45679° S')
  assert.equal(coordinateText(368.5, 0, 1), '8.50° E 0.00° N')
})
