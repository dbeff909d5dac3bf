/** A checkbox that stores the credentials in the tab's session storage. */
import type { ReactElement } from 'react'
import { Checkbox } from '../components/field.tsx'

export interface StaySignedInProps {
  isKept: boolean
  onKept(isKept: boolean): void
}

export function StaySignedIn({ isKept, onKept }: StaySignedInProps): ReactElement {
  return <Checkbox label="Stay signed in until this tab is closed" isChecked={isKept} onChange={onKept} />
}
