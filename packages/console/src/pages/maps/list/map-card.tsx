/** A map in the list: thumbnail, name and actions. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ReactElement, useEffect, useRef, useState } from 'react'
import { IconButton } from '../../../components/button.tsx'
import { useConfirm } from '../../../components/confirm.tsx'
import { StatusDot, Tag } from '../../../components/note.tsx'
import { Menu } from '../../../components/popup/menu.tsx'
import { useToast } from '../../../components/toast.tsx'
import { formatRelative } from '../../../format.ts'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useRefusal } from '../../../session/session.tsx'
import { useActivityItem } from '../../activity/activity-item.ts'
import { isUnsaved, useEditorActions, useEditorState } from '../editor-store.ts'
import { pictureKey, storedPicture } from '../picture/stored-picture.ts'
import { isBaseStyle, type StyleSummary } from '../styles-query.ts'
import classes from './maps-page.module.css'

interface MapCardProps {
  style: StyleSummary
}

export function MapCard({ style }: MapCardProps): ReactElement {
  const state = useEditorState(style.id)
  return (
    <li className={classes.card}>
      <Link to="/maps/$styleId/$tab" params={{ styleId: style.id, tab: 'look' }}>
        <Picture style={style} />
        <span className={classes.name} title={style.name}>
          {style.name}
        </span>
        {style.description && (
          <span className={classes.description} title={style.description}>
            {style.description}
          </span>
        )}
      </Link>
      <div className={classes.facts}>
        <span>
          {state && isUnsaved(state) ? (
            <StatusDot kind="warn">Unsaved changes</StatusDot>
          ) : isBaseStyle(style) ? (
            <Tag>base map</Tag>
          ) : (
            `Changed ${formatRelative(style.updatedAt)}`
          )}
        </span>
        <CardMenu style={style} />
      </div>
    </li>
  )
}

interface PictureProps {
  style: StyleSummary
}

/** Read when it becomes visible. */
function Picture({ style }: PictureProps): ReactElement {
  const client = useClient()
  const mayStore = useRefusal()('styles', 'write', style.id) === undefined
  const place = useRef<HTMLSpanElement>(null)
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    if (!place.current) return
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && setSeen(true))
    observer.observe(place.current)
    return () => observer.disconnect()
  }, [])
  const { data } = useQuery({
    queryKey: pictureKey(style.id, style.updatedAt),
    queryFn: ({ signal }) => storedPicture(client, style.id, { mayStore, signal }),
    enabled: isSeen,
    retry: 1,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <span ref={place} className={classes.picture}>
      {data && <img src={data} alt="" />}
    </span>
  )
}

interface CardMenuProps {
  style: StyleSummary
}

function CardMenu({ style }: CardMenuProps): ReactElement {
  const client = useClient()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const confirm = useConfirm()
  const refusal = useRefusal()
  const { say, fail } = useToast()
  const { discard } = useEditorActions(style.id)
  const activity = useActivityItem({ kind: 'styles', record: style.id })
  const refresh = () => queries.invalidateQueries({ queryKey: queryKeys.styles.list })
  const duplicate = useMutation({
    async mutationFn() {
      const record = await client.styles.get(style.id)
      // A copy of a base map is an ordinary map.
      const { base: _, ...metadata } = record.metadata
      return client.styles.create({ ...record, name: `${record.name} copy`, metadata })
    },
    async onSuccess({ id, name }) {
      await refresh()
      say({
        title: `“${name}” was made`,
        action: {
          label: 'Open',
          onSelect: () => void navigate({ to: '/maps/$styleId/$tab', params: { styleId: id, tab: 'look' } }),
        },
      })
    },
    onError: (error) => fail('The map was not duplicated', error),
  })
  const remove = () =>
    confirm({
      title: `Delete “${style.name}”?`,
      body: 'Pages and links that show this map will no longer find it. The data stay. This cannot be undone.',
      action: 'Delete',
      async onConfirm() {
        await client.styles.delete(style.id)
        discard()
        await refresh()
        say({ title: `“${style.name}” was deleted` })
      },
    })
  return (
    <Menu
      trigger={<IconButton icon="more" label={`More for ${style.name}`} />}
      items={[
        {
          label: 'Duplicate',
          icon: 'copy',
          disabledReason: refusal('styles', 'write'),
          onSelect: () => duplicate.mutate(),
        },
        {
          label: 'Share',
          icon: 'share',
          onSelect: () => void navigate({ to: '/maps/$styleId/$tab', params: { styleId: style.id, tab: 'share' } }),
        },
        activity,
        '-',
        {
          label: 'Delete',
          icon: 'trash',
          isDanger: true,
          disabledReason: refusal('styles', 'write', style.id),
          onSelect: remove,
        },
      ]}
    />
  )
}
