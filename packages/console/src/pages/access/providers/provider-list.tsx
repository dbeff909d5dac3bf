/** The table of sign-in providers. */
import type { OidcProvider } from '@graticule/client'
import type { ReactElement } from 'react'
import { StatusDot, Tag } from '../../../components/note.tsx'
import { layout } from '../../../components/page.tsx'
import classes from '../access.module.css'
import { Cell } from '../keys/key-list.tsx'
import { ProviderMenu } from './provider-menu.tsx'
import { whoMayCome } from './provider-words.ts'

interface ProviderListProps {
  providers: readonly OidcProvider[]
  onEdit(provider: OidcProvider): void
  onSetup(provider: OidcProvider): void
}

export function ProviderList({ providers, onEdit, onSetup }: ProviderListProps): ReactElement {
  return (
    <div className={layout.scroll}>
      <table className={`${layout.list} ${classes.table}`}>
        <thead>
          <tr>
            {['Name', 'Who may come', 'Issuer', 'State'].map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {providers.map((provider) => (
            <tr key={provider.id}>
              <td className={classes.name}>
                {provider.name} {provider.acceptsTokens && <Tag>its tokens too</Tag>}
              </td>
              <Cell label="May">{whoMayCome(provider)}</Cell>
              <Cell label="Issuer">{provider.issuer}</Cell>
              <Cell label="State">
                <StatusDot kind={provider.enabled ? 'ok' : 'off'}>
                  {provider.enabled ? 'enabled' : 'disabled'}
                </StatusDot>
              </Cell>
              <td className={classes.actions}>
                <ProviderMenu provider={provider} onEdit={() => onEdit(provider)} onSetup={() => onSetup(provider)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
