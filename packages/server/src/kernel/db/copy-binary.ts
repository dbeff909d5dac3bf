/** What COPY BINARY begins with: its signature, no flags, no extension. */
export const copyHeader = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')

/** In place of the number of columns: there are no more tuples. */
export const copyTrailer = Buffer.from([0xff, 0xff])
