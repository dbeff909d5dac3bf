/** The files that libpq reads besides the connection string: services (`pg_service.conf`) and passwords (`.pgpass`). */
import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Keywords, wrong } from './keywords.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The section of a service, from the user's file or the machine's. */
export function readService(name: string, env: Environment): Keywords {
  const home = env.HOME ?? homedir()
  const files = [
    env.PGSERVICEFILE ?? join(home, '.pg_service.conf'),
    join(env.PGSYSCONFDIR ?? '/etc/postgresql-common', 'pg_service.conf'),
  ]
  for (const file of files) {
    const section = sectionOf(textOf(file), name)
    if (section) return section
  }
  throw wrong(`names the service "${name}", which is in neither of ${files.join(' and ')}.`)
}

function sectionOf(text: string, name: string): Keywords | undefined {
  const lines = text.split('\n').map((line) => line.trim())
  const start = lines.indexOf(`[${name}]`)
  if (start === -1) return undefined
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => line.startsWith('['))
  const pairs = (end === -1 ? rest : rest.slice(0, end)).filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    pairs.map((line): [string, string] => {
      const equals = line.indexOf('=')
      if (equals < 1) throw wrong(`names the service "${name}", whose section has a line without "=".`)
      return [line.slice(0, equals).trim(), line.slice(equals + 1).trim()]
    }),
  )
}

export type Login = { readonly host: string; readonly port: number; readonly database: string; readonly user: string }

/** The password of the first fitting line `host:port:database:user:password`. libpq ignores a file that others can read. */
export function readPasswordFile(file: string, { host, port, database, user }: Login): string | undefined {
  if ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) return undefined
  const wanted = [host, String(port), database, user]
  for (const line of textOf(file).split('\n')) {
    if (line.startsWith('#')) continue
    const fields = (line.match(/(?:[^:\\]|\\.)*(?::|$)/g) ?? []).map((field) =>
      field.replace(/:$/, '').replaceAll(/\\(.)/g, '$1'),
    )
    if (wanted.every((value, index) => fields[index] === '*' || fields[index] === value)) return fields[4]
  }
  return undefined
}

const textOf = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
