/**
 * The content security policy of pages: nothing comes from elsewhere and nothing is written inline, so neither a dataset nor
 * a style can bring in code.
 */
export const pagePolicy = ({ formAction, frameAncestors }: { formAction: string; frameAncestors: string }): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    "style-src 'self'",
    // MapLibre's style sheet has its icons inside.
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    `form-action ${formAction}`,
    `frame-ancestors ${frameAncestors}`,
  ].join('; ')
