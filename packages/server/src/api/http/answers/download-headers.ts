import { create as contentDisposition } from 'content-disposition'

/** Makes an answer a download of this name, without what no file system takes. */
export const downloadOf = (name: string): Record<string, string> => ({
  'content-disposition': contentDisposition(name.replaceAll(/[\\/\p{Cc}]+/gu, '-')),
})
