/**
 * A checkbox that stores the credentials in the tab's session storage. The choice is a preference of this browser, so it is made once
 * and kept in local storage; the credentials never are.
 */
import { type ReactElement, useState } from 'react'
import { Checkbox } from '../components/field.tsx'

const storageName = 'graticule.stays-signed-in'

export function useStaysSignedIn(): [staysSignedIn: boolean, choose: (staysSignedIn: boolean) => void] {
  const [staysSignedIn, set] = useState(() => localStorage.getItem(storageName) === 'yes')
  const choose = (next: boolean) => {
    set(next)
    localStorage.setItem(storageName, next ? 'yes' : 'no')
  }
  return [staysSignedIn, choose]
}

export interface StaySignedInProps {
  staysSignedIn: boolean
  onStaySignedIn(staysSignedIn: boolean): void
}

export function StaySignedIn({ staysSignedIn, onStaySignedIn }: StaySignedInProps): ReactElement {
  return (
    <Checkbox label="Stay signed in until this tab is closed" isChecked={staysSignedIn} onChange={onStaySignedIn} />
  )
}
