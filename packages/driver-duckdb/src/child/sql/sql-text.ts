/** Text as a part of SQL. */

export const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`

export const quotedText = (text: string): string => `'${text.replaceAll("'", "''")}'`

export const quotedTexts = (texts: readonly string[]): string => `[${texts.map(quotedText).join(', ')}]`
