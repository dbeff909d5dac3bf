/** The mail templates: the server's defaults, and those in an application's metadata. */
export const mailNames = ['confirm', 'reset'] as const
export type MailName = (typeof mailNames)[number]

export interface MailText {
  subject: string
  text: string
}

export const mailTitles: Record<MailName, string> = {
  confirm: 'Confirm the address',
  reset: 'Choose a password',
}

export const usualTexts: Readonly<Record<MailName, MailText>> = {
  confirm: {
    subject: 'Confirm your address for {{application}}',
    text: `Hello,

please confirm that this is your address by opening this link:

{{link}}

If you did not sign up at {{application}}, ignore this message.
`,
  },
  reset: {
    subject: 'Reset your password for {{application}}',
    text: `Hello,

somebody, probably you, asked to reset your password at {{application}}. Open this link to choose a new one:

{{link}}

If it was not you, ignore this message: your password stays as it is.
`,
  },
}

export type MailTexts = Readonly<Record<MailName, MailText>>

/** The effective templates: those at `mail.templates` of the metadata, otherwise the defaults. */
export function textsOf(metadata: unknown): MailTexts {
  const { mail } = (metadata ?? {}) as { mail?: { templates?: Partial<Record<MailName, Partial<MailText>>> } | null }
  const own = (name: MailName, part: keyof MailText): string => {
    const text = mail?.templates?.[name]?.[part]
    return typeof text === 'string' && text.trim() !== '' ? text : usualTexts[name][part]
  }
  const both = (name: MailName): MailText => ({ subject: own(name, 'subject'), text: own(name, 'text') })
  return { confirm: both('confirm'), reset: both('reset') }
}

/** Only what differs from the defaults is stored, so that improved defaults take effect. */
export function templateOf(name: MailName, { subject, text }: MailText): Partial<MailText> {
  const usual = usualTexts[name]
  return {
    ...(subject.trim() !== '' && subject !== usual.subject && { subject }),
    ...(text.trim() !== '' && text !== usual.text && { text }),
  }
}

/** Fills placeholders as the server does: unknown ones become empty. */
export const fill = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replace(/\{\{\s*(\w{1,40})\s*\}\}/g, (_, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? '') : '',
  )
