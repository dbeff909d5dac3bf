/**
 * PostgreSQL's keywords, limited to those of queries. CodeMirror's dialect has 800, including "name" and "id", and would
 * highlight columns as keywords.
 */
import { PostgreSQL, SQLDialect } from '@codemirror/lang-sql'

const keywords = `all and any array as asc between both by case cast collate cross cube current_date current_time
  current_timestamp desc distinct else end except exists extract false fetch filter first following for from full group
  grouping having ilike in inner intersect into is isnull join last lateral leading left like limit natural next not
  notnull null nulls offset on only or order ordinality outer over overlaps partition preceding range recursive right
  rollup row rows select sets similar some symmetric table tablesample then ties to trailing true unbounded union unique
  using values when where window with within`

export const dialect: SQLDialect = SQLDialect.define({ ...PostgreSQL.spec, keywords })
