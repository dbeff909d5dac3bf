import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderTemplate } from '../../../../../server/src/tenants/mail/templates.ts'
import { fill, mailNames, templateOf, textsOf, usualTexts } from './mail-texts.ts'

const values = {
  application: 'Harbour',
  link: 'https://x.org/?token=1',
  email: 'a@x.org',
  firstName: 'Ada',
  lastName: '',
}
const rendered = (metadata: unknown) =>
  mailNames.map((name) => {
    const { subject, text } = textsOf(metadata)[name]
    return { subject: fill(subject, values), text: fill(text, values) }
  })
const sent = (metadata: unknown) =>
  mailNames.map((name) => {
    const { subject, text } = renderTemplate(name, metadata, values)
    return { subject, text }
  })

test('the preview of a mail is what the server sends', () => {
  const own = { mail: { templates: { confirm: { subject: 'Hi {{firstName}} {{ nothing }}!', text: '{{ link }}' } } } }
  for (const metadata of [{}, own, { mail: null }, { mail: { templates: { reset: { text: '  ' } } } }])
    assert.deepEqual(rendered(metadata), sent(metadata))
})

test('only words of one’s own are kept', () => {
  assert.deepEqual(templateOf('reset', usualTexts.reset), {})
  assert.deepEqual(templateOf('reset', { ...usualTexts.reset, subject: 'Hi' }), { subject: 'Hi' })
  assert.deepEqual(templateOf('reset', { subject: '', text: ' ' }), {})
})
