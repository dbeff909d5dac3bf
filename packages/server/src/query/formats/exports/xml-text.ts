const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
}

/** Characters that XML 1.0 cannot have, not even escaped: controls, halves of surrogate pairs, U+FFFE and U+FFFF. */
const impossible =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are meant
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** Text for XML, also for attribute values. What XML cannot have is left out; a CR is escaped, or parsers make it LF. */
export const escapeXml = (text: string): string =>
  text.replace(impossible, '').replace(/[&<>"\r]/g, (char) => entities[char] ?? '')
