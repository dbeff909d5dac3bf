/** Labels for `metadata.ssl` of a database. */
export const tlsNames: Readonly<Record<string, string>> = {
  '': 'By the address: verified for public ones, off for private ones',
  'verify-full': 'Verified: the certificate must be trusted and for this host',
  require: 'Encrypted, whatever the certificate',
  disable: 'Off: only for private addresses',
}
