import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { StartError } from '../../kernel/errors.ts'

/** Where the passphrase of a backup may come from. Never from the command line, which every user of the machine can read. */
export type PassphraseSource = {
  /** --passphrase-file */
  readonly file: string | undefined
  /** BACKUP_PASSPHRASE */
  readonly setting: string | undefined
  /** For a new backup it is asked twice, and must not be short. */
  readonly isNew: boolean
}

const leastLength = 12

export async function readPassphrase({ file, setting, isNew }: PassphraseSource): Promise<string> {
  const passphrase = file === undefined ? (setting ?? (await ask(isNew))) : await readFromFile(file)
  if (isNew && passphrase.length < leastLength) {
    throw new StartError(`The passphrase must have at least ${leastLength} characters.`)
  }
  return passphrase
}

async function readFromFile(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new StartError(`--passphrase-file: ${error.message}`)
  })
  return text.replace(/\r?\n$/, '')
}

async function ask(isNew: boolean): Promise<string> {
  if (!process.stdin.isTTY) {
    throw new StartError(
      'Set BACKUP_PASSPHRASE, or name a file with --passphrase-file: there is no terminal to ask on.',
    )
  }
  const passphrase = await askOnce('Passphrase of the backup: ')
  if (isNew && (await askOnce('The same again: ')) !== passphrase) throw new StartError('The two passphrases differ.')
  return passphrase
}

/** What is typed is not shown. */
async function askOnce(question: string): Promise<string> {
  process.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true })
  try {
    return await lines.question('')
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}
