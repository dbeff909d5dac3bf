import Type from 'typebox'

/** One address, without characters that could inject mail headers. */
export const emailPattern =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that they are refused is the point
  /^[^\s@<>()[\],;:\\"\x00-\x1f\x7f-\x9f]{1,64}@[^\s@<>()[\],;:\\"\x00-\x1f\x7f-\x9f]{1,255}$/.source

/** Schema of one email address. */
export const emailSchema = Type.String({
  pattern: emailPattern,
  maxLength: 320,
  description: 'An e-mail address; upper and lower case are the same',
})
