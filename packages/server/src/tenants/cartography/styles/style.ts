import Type from 'typebox'
import { freeObject } from '../../../api/http/input/bounded-schemas.ts'
import { type BaseServices, defineResource, field } from '../../../api/resource/resource.ts'
import { standardOperations } from '../../../api/resource/standard-operations.ts'
import { documentBudget } from '../../../kernel/json/json-budget.ts'
import type { StyleCheck } from './style-check.ts'
import { checkStyleSize } from './style-size.ts'

const example = {
  name: 'Plain land',
  description: 'One colour, no sources',
  type: 'plain',
  style: {
    version: 8,
    sources: {},
    layers: [{ id: 'land', type: 'background', paint: { 'background-color': '#f4efe6' } }],
  },
}

export type StyleServices = BaseServices & { readonly styleCheck: StyleCheck }

export const style = defineResource<StyleServices>({
  name: 'styles',
  title: 'Style',
  acl: 'styles',
  bodyLimit: 4 * 1024 * 1024,
  budget: documentBudget,
  example,
  fields: {
    name: field('string', Type.String({ minLength: 1, maxLength: 255 }), { required: true }),
    description: field('string', Type.String({ maxLength: 10_000 }), { default: '', isKeptOnReplace: true }),
    type: field('string', Type.Enum(['plain']), { default: 'plain', isKeptOnReplace: true }),
    style: field('json', freeObject('bodyBytes', { description: 'A MapLibre style, version 8' }), {
      required: true,
      queryable: false,
    }),
  },
  joins: { application: { one: 'Application', field: 'applicationId' } },
  async prepare({ values, leaving }, _, { styleCheck }) {
    if (values.style !== undefined) {
      checkStyleSize(values.style)
      await styleCheck.check(values.style, leaving())
    }
    return values
  },
})

export const styleOperations = standardOperations(style)
