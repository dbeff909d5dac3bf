/** The kinds of nodes that a SELECT may consist of, as PostgreSQL's parser calls them. Whatever else there is, or comes, is refused. */
const selectNodes = new Set(
  `A_ArrayExpr A_Const A_Expr A_Indices A_Indirection A_Star Alias BitString BoolExpr Boolean BooleanTest CaseExpr CaseWhen
  CoalesceExpr CollateClause ColumnDef ColumnRef CommonTableExpr Float FuncCall GroupingFunc GroupingSet Integer JoinExpr
  JsonAggConstructor JsonArgument JsonArrayAgg JsonArrayConstructor JsonArrayQueryConstructor JsonBehavior JsonFormat
  JsonFuncExpr JsonIsPredicate JsonKeyValue JsonObjectAgg JsonObjectConstructor JsonOutput JsonParseExpr JsonReturning
  JsonScalarExpr JsonSerializeExpr JsonTable JsonTableColumn JsonTablePathSpec JsonValueExpr List MinMaxExpr NamedArgExpr
  NullTest RangeFunction RangeSubselect RangeTableFunc RangeTableFuncCol RangeTableSample RangeVar ResTarget RowExpr
  SelectStmt SetToDefault SortBy SQLValueFunction String SubLink TypeCast TypeName WindowDef WithClause XmlExpr XmlSerialize`.split(
    /\s+/,
  ),
)

export const isSelectNode = (kind: string): boolean => selectNodes.has(kind)
