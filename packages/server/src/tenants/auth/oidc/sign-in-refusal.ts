import { ApiError } from '../../../kernel/errors.ts'

/** Why nobody is signed in. The page that the browser returns to gets the name, everybody else the sentence. */
const sentences = {
  access_denied: 'The sign-in was given up, or refused by the provider.',
  provider_failed: 'The provider does not answer, or its answer is not valid. Try again.',
  email_not_verified: 'The provider does not say that the e-mail address is verified.',
  domain_not_allowed: 'Users of this e-mail domain may not sign in here.',
  user_unknown:
    'There is no user for this sign-in, and the provider may not make one, or not link to the one of this e-mail address.',
  user_disabled: 'This user is disabled.',
} as const

export type RefusalReason = keyof typeof sentences

export const refusalReasons = Object.keys(sentences) as RefusalReason[]

export class SignInRefusal extends ApiError {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason, cause?: unknown) {
    super('unauthorized', sentences[reason], { cause, extensions: { reason } })
    this.reason = reason
  }
}
