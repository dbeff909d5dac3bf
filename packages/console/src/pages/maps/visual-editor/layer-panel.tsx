/** The settings of a layer: colours first, other sections collapsed with a summary. */

import { type Attribute, isComplete, type LayerRecipe, maxZoom } from '@graticule/map/recipe'
import { useQuery } from '@tanstack/react-query'
import type { ReactElement, ReactNode } from 'react'
import { ErrorNote } from '../../../components/error-note.tsx'
import { Select, Slider, TextField } from '../../../components/field.tsx'
import { Icon } from '../../../components/icon.tsx'
import { useClient } from '../../../session/session.tsx'
import { useEditor } from '../editor-context.tsx'
import { datasetQuery } from '../styles-query.ts'
import { ColourPanel } from './colours/colour-panel.tsx'
import { FarSection, farFact } from './far-section.tsx'
import { FilterSection } from './filter-section.tsx'
import { withText } from './map-legend.tsx'
import classes from './panel.module.css'
import { PopupSection, popupFact } from './popup-section.tsx'
import type { SectionProps } from './section.ts'
import { SizeSection } from './size-section.tsx'
import { hasTimes, TimeSection } from './time-section.tsx'

interface LayerPanelProps {
  recipe: LayerRecipe
}

export function LayerPanel({ recipe }: LayerPanelProps): ReactElement {
  const { changeLayer } = useEditor()
  const client = useClient()
  const { data: dataset, error, refetch } = useQuery(datasetQuery(client, recipe.datasetId))
  const attributes = dataset?.attributes ?? []
  const sections: SectionProps = {
    recipe,
    attributes,
    change: (change, of) => changeLayer(recipe.id, change, of),
  }
  return (
    <div className={classes.panel}>
      <h2 title={recipe.name}>{recipe.name}</h2>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      <ColourPanel recipe={recipe} attributes={attributes} />
      <div>
        <TitledSection title="Far out" fact={farFact(recipe)}>
          <FarSection {...sections} />
        </TitledSection>
        <TitledSection title={sizeTitle(recipe)} fact={sizeFact(recipe)}>
          <SizeSection {...sections} />
        </TitledSection>
        <TitledSection title="Opacity" fact={`${Math.round(recipe.opacity * 100)} %`}>
          <OpacitySection {...sections} />
        </TitledSection>
        <TitledSection title="Labels" fact={recipe.label?.attribute ?? 'none'}>
          <LabelSection {...sections} />
        </TitledSection>
        <TitledSection title="Popup and hover" fact={popupFact(recipe)}>
          <PopupSection {...sections} />
        </TitledSection>
        {hasTimes(attributes) && (
          <TitledSection title="Time" fact={recipe.time?.attribute ?? 'all times'}>
            <TimeSection {...sections} />
          </TitledSection>
        )}
        <TitledSection title="Zoom range" fact={`${recipe.zoom[0]} – ${recipe.zoom[1]}`}>
          <ZoomSection {...sections} />
        </TitledSection>
        <TitledSection title="Filter" fact={filterFact(recipe)}>
          <FilterSection {...sections} />
        </TitledSection>
        <TitledSection title="Name and legend" fact={recipe.texts.title ?? recipe.name}>
          <NameSection {...sections} />
        </TitledSection>
      </div>
    </div>
  )
}

interface TitledSectionProps {
  title: string
  fact: string
  children: ReactNode
}

function TitledSection({ title, fact, children }: TitledSectionProps): ReactElement {
  return (
    <details>
      <summary>
        <span className={classes.chevron}>
          <Icon name="chevronRight" />
        </span>
        {title}
        <span className={classes.summaryFact}>{fact}</span>
      </summary>
      <div className={classes.section}>{children}</div>
    </details>
  )
}

const sizeTitle = ({ geometry }: LayerRecipe): string =>
  ({ point: 'Size and outline', line: 'Width', area: 'Outline', mixed: 'Size and outline' })[geometry]

const sizeFact = ({ size, stroke, geometry }: LayerRecipe): string =>
  geometry === 'area' ? `${stroke.width} px` : size.attribute === null ? `${size.value} px` : `by ${size.attribute}`

function filterFact({ conditions }: LayerRecipe): string {
  const count = conditions.filter(isComplete).length
  return count === 0 ? 'all features' : count === 1 ? '1 condition' : `${count} conditions`
}

function OpacitySection({ recipe, change }: SectionProps): ReactElement {
  return (
    <Slider
      label="Opacity"
      isLabelHidden
      value={Math.round(recipe.opacity * 100)}
      min={0}
      max={100}
      hint={`${Math.round(recipe.opacity * 100)} %`}
      onChange={(percent) => change((now) => ({ ...now, opacity: percent / 100 }), 'opacity')}
    />
  )
}

const noLabel = ''
const labelable = (attribute: Attribute): boolean => !['geometry', 'binary', 'json', 'array'].includes(attribute.type)

function LabelSection({ recipe, attributes, change }: SectionProps): ReactElement {
  const { label } = recipe
  return (
    <>
      <Select
        label="Text from"
        value={label?.attribute ?? noLabel}
        options={[
          { value: noLabel, label: 'No labels' },
          ...attributes.filter(labelable).map(({ name }) => ({ value: name, label: name })),
        ]}
        onChange={(attribute) =>
          change((now) => ({
            ...now,
            label: attribute === noLabel ? null : { attribute, size: now.label?.size ?? 12 },
          }))
        }
      />
      {label && (
        <Slider
          label="Size of the text"
          value={label.size}
          min={8}
          max={28}
          hint={`${label.size} px. Labels that would overlap are left out.`}
          onChange={(size) => change((now) => ({ ...now, label: now.label && { ...now.label, size } }), 'label size')}
        />
      )}
    </>
  )
}

function ZoomSection({ recipe, change }: SectionProps): ReactElement {
  const { map } = useEditor()
  const [from, to] = recipe.zoom
  const zoom = map.current?.gl.getZoom()
  return (
    <>
      <Slider
        label={`From zoom ${from}`}
        value={from}
        min={0}
        max={maxZoom - 1}
        onChange={(next) => change((now) => ({ ...now, zoom: [next, Math.max(next + 1, now.zoom[1])] }), 'zoom')}
      />
      <Slider
        label={`To zoom ${to}`}
        value={to}
        min={1}
        max={maxZoom}
        hint={`0 is the whole world, 10 a city, 16 a street.${zoom === undefined ? '' : ` The map is at ${zoom.toFixed(1)}.`}`}
        onChange={(next) => change((now) => ({ ...now, zoom: [Math.min(next - 1, now.zoom[0]), next] }), 'zoom')}
      />
    </>
  )
}

function NameSection({ recipe, change }: SectionProps): ReactElement {
  return (
    <>
      <TextField
        label="Name in the list of layers"
        value={recipe.name}
        onChange={(name) => change((now) => ({ ...now, name }), 'layer name')}
      />
      <TextField
        label="Heading in the legend"
        value={recipe.texts.title ?? ''}
        placeholder={recipe.name}
        hint="The texts of the classes can be edited in the legend on the map."
        onChange={(title) => change((now) => ({ ...now, texts: withText(now.texts, 'title', title) }), 'legend title')}
      />
    </>
  )
}
