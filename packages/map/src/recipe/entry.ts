// biome-ignore-all lint/performance/noBarrelFile: the entry `@graticule/map/recipe` of the package, for programs that edit recipes

export { followCells, seenOf } from '../saved/recipe-cells.ts'
export { showRecipePopups } from '../saved/recipe-popups.ts'
export {
  type BreakMethod,
  breakMethods,
  computeBreaks,
  type Distribution,
  isMethodPossible,
  maxClasses,
  methodTexts,
  minClasses,
  tidyBreaks,
} from './breaks.ts'
export { colouredCategories, graduatedClasses } from './classes.ts'
export { compileLabels, compileShapes, recipeMark } from './compile.ts'
export { farSourceId, sourcesOf } from './compile-far.ts'
export { isComplete, needsValue, operatorsFor } from './conditions.ts'
export {
  breaksFor,
  type ColourKind,
  colourKinds,
  defaultCategories,
  defaultGraduated,
  defaultRecipe,
  distributionOf,
  geometryOf,
  numberOf,
  rethemed,
} from './defaults.ts'
export {
  legendItems,
  legendsOf,
  numberFormat,
  type RecipeLegend,
  type RecipeLegendItem,
  type SeenMap,
} from './legend-items.ts'
export { type Ramp, type RampKind, type RampName, rampNamed, ramps } from './palettes.ts'
export { isDark, rampColours } from './ramp-colours.ts'
export * from './recipe.ts'
export { sourceIdOf, sourcePrefix } from './source-ids.ts'
export { type DarkVariant, darkKey, hasDarkVariant, recipesKey, recipesOf, themedStyle } from './stored-recipes.ts'
