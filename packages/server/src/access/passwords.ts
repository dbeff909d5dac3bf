import { ApiError, faulty } from '../errors.ts'
import { isCommonPassword } from './common-passwords.ts'

/** Makes and checks hashes of passwords, few at a time: a flood of logins must not starve everything else. */
export type Passwords = {
  /** Whoever leaves while waiting gives up its place: with `signal`. */
  hash(password: string, signal?: AbortSignal): Promise<string>
  /** A user without a password, or no user at all, takes as long as one whose password is wrong. */
  verify(kept: string | null | undefined, password: string): Promise<boolean>
  /** Runs `work` when it is its turn; the passwords it is given hash and verify without a further turn. */
  inTurn<T>(work: (passwords: Pick<Passwords, 'hash' | 'verify'>) => Promise<T>, signal?: AbortSignal): Promise<T>
}

/** argon2id is the library's default. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const atOnce = 2
const mostWaiting = 500
const minLength = 8
const maxLength = 256

export function createPasswords(): Passwords {
  let running = 0
  /** In the order in which they came. */
  const waiting = new Set<() => void>()
  let nobody: Promise<string> | undefined

  const bare = {
    async hash(password: string) {
      const { hash } = await import('@node-rs/argon2')
      return hash(folded(password), cost)
    },
    async verify(kept: string | null | undefined, password: string) {
      const { hash, verify } = await import('@node-rs/argon2')
      nobody ??= hash('the password of nobody', cost)
      const isRight = await verify(kept ?? (await nobody), folded(password))
      return isRight && typeof kept === 'string'
    },
  }

  function turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        waiting.delete(begin)
        signal?.removeEventListener('abort', leave)
      }
      const begin = (): void => {
        stop()
        resolve()
      }
      const leave = (): void => {
        stop()
        reject(signal?.reason)
      }
      waiting.add(begin)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  async function inTurn<T>(work: (passwords: typeof bare) => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    if (waiting.size >= mostWaiting) {
      throw new ApiError('busy', 'Too many passwords are being checked. Try again shortly.', retrySoon)
    }
    if (running >= atOnce) await turn(signal)
    else running++
    try {
      return await work(bare)
    } finally {
      // The turn is handed on; only when nobody waits does it end.
      const [next] = waiting
      if (next) next()
      else running--
    }
  }

  return {
    inTurn,
    hash: (password, signal) => inTurn((passwords) => passwords.hash(password), signal),
    verify: (kept, password) => inTurn((passwords) => passwords.verify(kept, password)),
  }
}

const retrySoon = { headers: { 'Retry-After': '5' } }

/** The same password however a keyboard composes its letters. */
const folded = (password: string): string => password.normalize('NFKC')

/** Refuses a password that is too short, too long, or among the first that anybody would try. */
export function checkNewPassword(password: string, path: string): void {
  const text = folded(password)
  const length = [...text].length
  if (length < minLength) throw weak(path, `must have at least ${minLength} characters`)
  if (length > maxLength) throw weak(path, `must have at most ${maxLength} characters`)
  if (isCommonPassword(text)) throw weak(path, 'must not be one of the most common passwords')
}

const weak = (path: string, message: string): ApiError =>
  faulty([{ path, code: 'weak_password', message }], 'weak_password')
