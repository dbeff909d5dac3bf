/** The URLs for users who sign in by e-mail. They contain the application's id, which is not secret. */
import { consoleUrl } from '../address.ts'

const ofApplication = (applicationId: string): string => `application=${encodeURIComponent(applicationId)}`

/** The sign-in page of an application. */
export const signInLink = (applicationId: string): string => consoleUrl(`?${ofApplication(applicationId)}`)

/** The target of links in sign-up mails; the server adds the token, the e-mail address and the sign-in link. */
export const confirmPageUrl = (): string => consoleUrl('confirm')

/** The page for a new password; the server adds the token and the e-mail address. */
export const resetPageUrl = (applicationId: string): string =>
  consoleUrl(`reset-password?${ofApplication(applicationId)}`)
