import type { Operation } from '../../api/http/operation.ts'
import { jwksOperation } from './jwks-operation.ts'
import { oidcOperations } from './oidc/sign-in-operations.ts'
import { passwordOperations } from './password-operations.ts'
import { secondFactorOperations } from './second-factor-operations.ts'
import type { AuthServices } from './services.ts'
import { sessionOperations } from './session-operations.ts'
import { signupOperations } from './signup-operations.ts'

/** All operations for signing in. */
export const authOperations: readonly Operation<AuthServices>[] = [
  ...sessionOperations,
  ...passwordOperations,
  ...secondFactorOperations,
  ...signupOperations,
  ...oidcOperations,
  jwksOperation,
]
