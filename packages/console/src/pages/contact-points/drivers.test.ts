import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driverNames, driverOf } from '../../../../server/src/tenants/contactpoints/drivers.ts'
import { drivers } from './drivers.ts'

test('the forms have exactly the settings of the server’s drivers, and know which are secret or required', () => {
  assert.deepEqual(Object.keys(drivers).toSorted(), driverNames)
  for (const [name, { fields }] of Object.entries(drivers)) {
    const { settings, secretFields } = driverOf(name)
    const names = (list: readonly { name: string }[]) => list.map((field) => field.name).toSorted()
    assert.deepEqual(names(fields), Object.keys(settings.properties).toSorted(), name)
    assert.deepEqual(names(fields.filter(({ isSecret }) => isSecret)), [...secretFields].toSorted(), name)
    const required = (settings as { required?: string[] }).required ?? []
    assert.deepEqual(names(fields.filter(({ isRequired }) => isRequired)), required.toSorted(), name)
  }
})
