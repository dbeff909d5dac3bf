import { createAdmission } from '../../../kernel/concurrency/admission.ts'
import { type MachineShare, partOf, wholeMachine } from '../../../kernel/concurrency/machine-share.ts'
import { type ApiError, faulty } from '../../../kernel/errors.ts'
import { limits, overLimit } from '../../../kernel/limits/limits.ts'
import { isCommonPassword } from './common-passwords.ts'

/**
 * Password hashing with argon2id behind a semaphore: a flood of logins must not starve other requests. Applications take turns, so
 * that a flood at one of them does not keep the users of another waiting.
 */
export type Passwords = {
  /** With `signal`, a client that disconnects leaves the queue. */
  hash(applicationId: string, password: string, signal?: AbortSignal): Promise<string>
  /** Runs `work` inside the semaphore. The application must exist, or be `noApplication`. */
  inTurn<T>(applicationId: string, work: (hashing: Hashing) => Promise<T>, signal?: AbortSignal): Promise<T>
}

export type Hashing = {
  /** Takes as long for an unknown user as for a wrong password, so that timing reveals no accounts. */
  verify(storedHash: string | null | undefined, password: string): Promise<boolean>
}

/** Those who name an application that does not exist take turns together: ids that are made up are no ways into the queue. */
export const noApplication = 'none'

/** What a hash costs an attacker; argon2id is the library's default. Only tests, which have nothing to protect, give another. */
type Cost = { readonly memoryCost: number; readonly timeCost: number; readonly parallelism: number }
const strongCost: Cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const atOnce = 2
const mostWaiting = limits.passwordsWaiting.value
const minLength = 8
const maxLength = 256

export function createPasswords(share: MachineShare = wholeMachine, cost: Cost = strongCost): Passwords {
  const total = partOf(atOnce, share)
  const admission = createAdmission({ total, maxWaiting: mostWaiting, sharesQueue: true, refuse: tooMany })
  let dummyHash: Promise<string> | undefined

  const bare = {
    async hash(password: string) {
      const { hash } = await import('@node-rs/argon2')
      return hash(folded(password), cost)
    },
    async verify(storedHash: string | null | undefined, password: string) {
      const { hash, verify } = await import('@node-rs/argon2')
      dummyHash ??= hash('the password of nobody', cost)
      const isRight = await verify(storedHash ?? (await dummyHash), folded(password))
      return isRight && typeof storedHash === 'string'
    },
  }

  async function inTurn<T>(
    owner: string,
    work: (hashing: typeof bare) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const release = await admission.admit(owner, { signal })
    try {
      return await work(bare)
    } finally {
      release()
    }
  }

  return {
    inTurn,
    hash: (owner, password, signal) => inTurn(owner, ({ hash }) => hash(password), signal),
  }
}

const tooMany = (): ApiError =>
  overLimit('passwordsWaiting', mostWaiting, 'Too many passwords are being checked. Try again shortly.', {
    headers: { 'Retry-After': '5' },
  })

/** Unicode normalization: keyboards compose the same letter differently. */
const folded = (password: string): string => password.normalize('NFKC')

/** Refuses passwords that are too short, too long or common. */
export function checkNewPassword(password: string, path: string): void {
  const text = folded(password)
  const length = [...text].length
  if (length < minLength) throw weak(path, `must have at least ${minLength} characters`)
  if (length > maxLength) throw weak(path, `must have at most ${maxLength} characters`)
  if (isCommonPassword(text)) throw weak(path, 'must not be one of the most common passwords')
}

const weak = (path: string, message: string): ApiError =>
  faulty([{ path, code: 'weak_password', message }], 'weak_password')
