/** A searchable list of the configuration's dotted keys and values. */
import { type ReactElement, useState } from 'react'
import { serverUrl } from '../../address.ts'
import { CodeBlock, CopyButton } from '../../components/copyable.tsx'
import { TextField } from '../../components/field.tsx'
import { formatNumber } from '../../format.ts'
import classes from './configuration.module.css'
import { dottedKeys, matchingKeys } from './dotted-keys.ts'

/** More would be slow to render; the search narrows the list. */
const mostShown = 300

interface KeyListProps {
  config: Readonly<Record<string, unknown>>
}

export function KeyList({ config }: KeyListProps): ReactElement {
  const [search, setSearch] = useState('')
  const all = dottedKeys(config)
  const matches = matchingKeys(all, search)
  return (
    <aside className={classes.keys} aria-label="Keys">
      <p className={classes.quiet}>Pages read it with a public key, whole or by a key:</p>
      <CodeBlock text={`${serverUrl}api/v1/appconfig`} label="address of the configuration" />
      <CodeBlock text={`${serverUrl}api/v1/appconfig/${all[0]?.key ?? 'map.zoom'}`} label="address of one key" />
      <TextField
        label="Search keys and values"
        isLabelHidden
        placeholder="Search keys and values"
        value={search}
        onChange={setSearch}
      />
      <p className={classes.quiet}>
        {search
          ? `${formatNumber(matches.length)} of ${formatNumber(all.length)} keys`
          : `${formatNumber(all.length)} keys`}
        {matches.length > mostShown && `, the first ${mostShown} shown`}
      </p>
      <ul>
        {matches.slice(0, mostShown).map(({ key, value }) => (
          <li key={key} className={classes.key}>
            <div>
              <code>{key}</code>
              <div className={classes.value}>{JSON.stringify(value)}</div>
            </div>
            <CopyButton text={key} label={`key ${key}`} />
          </li>
        ))}
      </ul>
    </aside>
  )
}
