/** A checkbox that stores the credentials in the tab's session storage. */
import type { ReactElement } from 'react'
import { Checkbox } from '../components/field.tsx'

export interface StaySignedInProps {
  staysSignedIn: boolean
  onStaySignedIn(staysSignedIn: boolean): void
}

export function StaySignedIn({ staysSignedIn, onStaySignedIn }: StaySignedInProps): ReactElement {
  return (
    <Checkbox label="Stay signed in until this tab is closed" isChecked={staysSignedIn} onChange={onStaySignedIn} />
  )
}
