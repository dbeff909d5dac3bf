/** A note on the server setting that bridges need. */
import type { ReactElement } from 'react'
import { Note } from '../../components/note.tsx'

export function BridgeNote(): ReactElement {
  return (
    <Note>
      The server answers for such an agent itself when it was started with <code>AGENT_BRIDGES=on</code>; otherwise a
      worker has to, as for any other. Addresses must be public unless <code>EGRESS_ALLOW</code> names them.
    </Note>
  )
}
