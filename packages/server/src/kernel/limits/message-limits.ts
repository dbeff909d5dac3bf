/** The limits of what is sent to contact points: messages, and the changes of datasets. `limits.ts` puts the tables together. */
import type { Limit } from './limit.ts'

export const messageLimits = {
  messagesPerMinute: {
    what: 'Messages to contact points',
    setting: 'MESSAGES_PER_MINUTE',
    unit: 'per minute',
    code: 'rate_limited',
    countedIn: 'installation',
    countedFor: 'application',
    isPerApplication: true,
  },
  messagesWaiting: {
    what: 'Messages to contact points that wait to be sent',
    value: 10_000,
    code: 'busy',
    countedIn: 'installation',
    countedFor: 'application',
  },
  contactPointBindings: {
    what: 'Datasets whose changes a contact point is told of',
    value: 20,
    code: 'invalid_request',
    countedIn: 'request',
  },
  bindings: {
    what: 'Datasets whose changes its contact points are told of, all added up',
    value: 1_000,
    code: 'conflict',
    countedIn: 'installation',
    countedFor: 'application',
  },
} as const satisfies Record<string, Limit>
