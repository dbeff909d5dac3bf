/** The logo: a frame with meridians and parallels. */
import type { ReactElement } from 'react'

interface LogoProps {
  size?: number
}

export function Logo({ size = 24 }: LogoProps): ReactElement {
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="var(--accent)"
      strokeWidth="1.2"
    >
      <path d="M3 3h18v18H3z" strokeWidth="1.6" />
      <path d="M3 9c6-2 12-2 18 0M3 15c6 2 12 2 18 0M9 3c-2 6-2 12 0 18M15 3c2 6 2 12 0 18" />
    </svg>
  )
}
