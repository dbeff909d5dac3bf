/** The editor of mail templates, with a preview. */
import { type ReactElement, useState } from 'react'
import { consoleUrl } from '../../../address.ts'
import { Button } from '../../../components/button.tsx'
import { Segmented, TextArea, TextField } from '../../../components/field.tsx'
import { layout } from '../../../components/page.tsx'
import classes from '../access.module.css'
import { fill, type MailName, type MailText, type MailTexts, mailNames, mailTitles, usualTexts } from './mail-texts.ts'

interface MailTextFieldsProps {
  texts: MailTexts
  application: string
  onChange(texts: MailTexts): void
}

export function MailTextFields({ texts, application, onChange }: MailTextFieldsProps): ReactElement {
  const [name, setName] = useState<MailName>('confirm')
  const mail = texts[name]
  const change = (part: Partial<MailText>) => onChange({ ...texts, [name]: { ...mail, ...part } })
  const isUsual = mail.subject === usualTexts[name].subject && mail.text === usualTexts[name].text
  return (
    <section className={layout.section}>
      <h2>What mail says</h2>
      <Segmented<MailName>
        label="Mail"
        value={name}
        options={mailNames.map((value) => ({ value, label: mailTitles[value] }))}
        onChange={setName}
      />
      <TextField label="Subject" value={mail.subject} onChange={(subject) => change({ subject })} />
      <TextArea
        label="Text"
        hint="{{link}}, {{application}}, {{email}}, {{firstName}} and {{lastName}} are filled in."
        rows={9}
        value={mail.text}
        error={/\{\{\s*link\s*\}\}/.test(mail.text) ? undefined : 'Without {{link}} nobody can go on from here.'}
        onChange={(text) => change({ text })}
      />
      {!isUsual && (
        <div>
          <Button icon="undo" onClick={() => change(usualTexts[name])}>
            Back to the usual words
          </Button>
        </div>
      )}
      <Preview name={name} mail={mail} application={application} />
    </section>
  )
}

/** The pages that links in mails open. */
const mailPages: Record<MailName, string> = { confirm: 'confirm', reset: 'reset-password' }

interface PreviewProps {
  name: MailName
  mail: MailText
  application: string
}

function Preview({ name, mail, application }: PreviewProps): ReactElement {
  const values = {
    application,
    link: `${consoleUrl(mailPages[name])}?token=…`,
    email: 'ada@example.org',
    firstName: 'Ada',
    lastName: 'Lovelace',
  }
  return (
    <figure className={classes.mail} aria-label="Preview of the mail">
      <p>To: ada@example.org</p>
      <p>
        <strong>{fill(mail.subject, values)}</strong>
      </p>
      <pre>{fill(mail.text, values)}</pre>
    </figure>
  )
}
