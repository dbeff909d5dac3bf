import { ApiError } from '../errors.ts'
import { httpPorts } from './policy.ts'

// Error messages for refused addresses. They never tell what is behind an address.

export const unreachable = (cause: unknown): ApiError =>
  new ApiError('upstream_failed', 'The address could not be reached, or its answer is not valid.', { cause })

export const downgraded = (): ApiError =>
  new ApiError('invalid_request', 'The address redirects from https to http, which is not followed.')

/** One text for all refused addresses, so that they cannot be used to scan the network. */
export const refusedAddress = (): ApiError =>
  new ApiError(
    'invalid_request',
    `The address is not allowed. Public addresses are, over HTTP on the ports ${httpPorts.join(', ')}. ` +
      'The operator of this server can allow others in EGRESS_ALLOW, a list such as ' +
      'EGRESS_ALLOW=db.example.org:5432,10.0.0.0/8 (host:port, host:*, CIDR, "private" or "*").',
  )
