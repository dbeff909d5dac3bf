/** Where the files of a `duckdb` database can be, with the form fields of each place. */
export type FilePlace = 'folder' | 'web' | 's3'

export interface FileField {
  name: 'db' | 'host' | 'user' | 'password' | 'region' | 'files'
  label: string
  placeholder?: string
  hint?: string
}

const files = { name: 'files', label: 'Files', placeholder: 'roads.parquet' } as const

export const filePlaces: Readonly<Record<FilePlace, { label: string; fields: readonly FileField[] }>> = {
  folder: {
    label: 'Folder',
    fields: [
      {
        name: 'db',
        label: 'Folder',
        placeholder: 'data',
        hint: 'On the server, below the files of this application. Each file in it is a table, and is only read.',
      },
    ],
  },
  web: {
    label: 'Web address',
    fields: [
      {
        name: 'db',
        label: 'Address',
        placeholder: 'https://data.example.org/open/',
        hint: 'Ends with a slash. The server keeps copies of the files and asks for changes once a minute.',
      },
      { ...files, hint: 'One name per line, because plain https has no listing. Each file is a table.' },
    ],
  },
  s3: {
    label: 'S3 bucket',
    fields: [
      {
        name: 'db',
        label: 'Bucket and prefix',
        placeholder: 's3://bucket/roads/',
        hint: 'Ends with a slash. The server keeps copies of the files and asks for changes once a minute.',
      },
      {
        name: 'host',
        label: 'Server',
        placeholder: 'https://minio.example.org:9000',
        hint: 'Empty for Amazon S3. Otherwise a server that speaks its protocol, such as MinIO, Ceph or R2.',
      },
      { name: 'region', label: 'Region', placeholder: 'us-east-1' },
      { name: 'user', label: 'Access key id', hint: 'Empty, like its secret, for a public bucket.' },
      { name: 'password', label: 'Secret access key' },
      { ...files, hint: 'One name per line. Empty: all files directly behind the prefix. Each file is a table.' },
    ],
  },
}

export function filePlaceOf(db: string): FilePlace {
  if (/^s3:\/\//i.test(db)) return 's3'
  return /^[a-z\d+.-]+:\/\//i.test(db) ? 'web' : 'folder'
}
