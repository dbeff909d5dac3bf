/** The actions of a tile source: copy its URLs, delete it. */
import type { TileSource } from '@graticule/client'
import type { ReactElement } from 'react'
import { Button, IconButton } from '../../components/button.tsx'
import { Menu } from '../../components/popup/menu.tsx'
import { useToast } from '../../components/toast.tsx'
import { useRefusal } from '../../session/session.tsx'
import { useActivityItem } from '../activity/activity-item.ts'
import { useDeleteTileSource } from './delete-tile-source.tsx'
import { type TileFactsProps, useTileAddresses } from './tile-facts.tsx'

export function TileActions({ id, tileJson, record }: TileFactsProps): ReactElement {
  const addresses = useTileAddresses(id, tileJson)
  const { say, fail } = useToast()
  const copy = (name: string, url: string) =>
    navigator.clipboard.writeText(url).then(
      () => say({ title: `The address of the ${name} is copied` }),
      (error: unknown) => fail('The address could not be copied', error),
    )
  return (
    <>
      <Menu
        trigger={<Button icon="copy">Copy URL</Button>}
        items={addresses.map(({ name, url }) => ({ label: name, onSelect: () => void copy(name, url) }))}
      />
      {record && <MoreActions record={record} title={record.name || tileJson.name} />}
    </>
  )
}

interface MoreActionsProps {
  record: TileSource
  title: string
}

function MoreActions({ record, title }: MoreActionsProps): ReactElement {
  const refusal = useRefusal()('tiles', 'write', record.id)
  const remove = useDeleteTileSource(record, title)
  const activity = useActivityItem({ kind: 'tilesources', record: record.id })
  return (
    <Menu
      trigger={<IconButton icon="more" label="More actions" />}
      items={[
        activity,
        '-',
        { label: 'Delete …', icon: 'trash', isDanger: true, disabledReason: refusal, onSelect: () => void remove() },
      ]}
    />
  )
}
