import Type from 'typebox'

/** Schema of one email address, without characters that could inject mail headers. */
export const emailSchema = Type.String({
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that they are refused is the point
  pattern: /^[^\s@<>()[\],;:\\"\x00-\x1f\x7f-\x9f]{1,64}@[^\s@<>()[\],;:\\"\x00-\x1f\x7f-\x9f]{1,255}$/.source,
  maxLength: 320,
  description: 'An e-mail address; upper and lower case are the same',
})
