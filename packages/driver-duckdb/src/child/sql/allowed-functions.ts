/**
 * The functions that a query may call, by name. An allow-list: DuckDB has more than six hundred, some of which write files, change
 * the process or tell of the server, and the next version has others. Operators are functions too (`+`, `~~` for LIKE).
 *
 * Left out, and why:
 * - makes huge values, and cannot be interrupted while it does: repeat, lpad, rpad, printf, format, bitstring, range and
 *   generate_series as scalars, list_resize, list_sort, list_reverse_sort, list_reduce, levenshtein, damerau_levenshtein;
 * - acts: write_log, sleep_ms, pg_sleep, setseed, nextval, currval, checkpoint, enable_logging, enable_profiling and their like;
 * - runs or reads SQL: json_serialize_sql, json_deserialize_sql, json_serialize_plan, query, query_table;
 * - calls an aggregate whose name is a value: list_aggregate and its aliases (list_sum and the others are here);
 * - tells of the server or the session: version, current_setting, current_query, current_database, getvariable, pg_*, has_*;
 * - is internal: __internal_*, create_sort_key, stats, vector_type, icu_sort_key, make_type, variant_*.
 */

const operators = '+ - * / // % ** ^ @ & | ~ << >> || && @> <@ ^@ -> ->> ~~ !~~ ~~* !~~* ~~~ <-> <=>'

const comparing = `like_escape ilike_escape not_like_escape not_ilike_escape greatest least nullif constant_or_null
  contains starts_with ends_with prefix suffix`

const numeric = `abs acos acosh add asin asinh atan atan2 atanh bit_count cbrt ceil ceiling cos cosh cot degrees divide even exp
  fdiv floor fmod gamma gcd greatest_common_divisor isfinite isinf isnan lcm least_common_multiple lgamma ln log log10 log2 mod
  multiply nextafter pi pow power radians random round round_even roundbankers sign signbit sin sinh sqrt subtract tan tanh trunc
  xor equi_width_bins`

const text = `ascii bar base64 bin bit_length char_length character_length chr concat concat_ws decode encode format_bytes
  formatreadabledecimalsize formatreadablesize from_base64 from_binary from_hex hamming hex instr jaccard jaro_similarity
  jaro_winkler_similarity lcase left left_grapheme length length_grapheme lower ltrim md5 mismatches nfc_normalize octet_length
  ord position regexp_escape regexp_extract regexp_extract_all regexp_full_match regexp_matches regexp_replace
  regexp_split_to_array replace reverse right right_grapheme rtrim sha1 sha256 split split_part str_split str_split_regex
  string_split string_split_regex string_to_array strip_accents strlen strpos substr substring substring_grapheme to_base
  to_base64 to_binary to_hex translate trim ucase unbin unhex unicode upper url_decode url_encode hash typeof`

const time = `age century current_date current_localtime current_localtimestamp date_add date_diff date_part date_sub date_trunc
  datediff datepart datesub datetrunc day dayname dayofmonth dayofweek dayofyear days_in_month decade epoch epoch_ms epoch_ns
  epoch_us era get_current_time get_current_timestamp hour isodow isoyear julian last_day make_date make_time make_timestamp
  make_timestamp_ms make_timestamp_ns make_timestamptz microsecond millennium millisecond minute month monthname nanosecond
  normalized_interval now quarter second strftime strptime time_bucket timezone timezone_hour timezone_minute to_centuries to_days
  to_decades to_hours to_microseconds to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp
  to_weeks to_years today transaction_timestamp try_strptime week weekday weekofyear year yearweek`

const uuids = 'gen_random_uuid uuid uuidv4 uuidv7 uuid_extract_timestamp uuid_extract_version'

const lists = `apply array_append array_apply array_cat array_concat array_contains array_cosine_distance array_cosine_similarity
  array_cross_product array_distance array_distinct array_dot_product array_extract array_filter array_has array_has_all
  array_has_any array_indexof array_inner_product array_intersect array_length array_pop_back array_pop_front array_position
  array_prepend array_push_back array_push_front array_reverse array_select array_slice array_to_string array_transform
  array_unique array_value array_where array_zip cardinality element_at filter flatten len list_any_value list_append list_apply
  list_avg list_bit_and list_bit_or list_bit_xor list_bool_and list_bool_or list_cat list_concat list_contains
  list_cosine_distance list_cosine_similarity list_count list_distance list_distinct list_dot_product list_element list_entropy
  list_extract list_filter list_first list_has list_has_all list_has_any list_indexof list_inner_product list_intersect list_last
  list_mad list_max list_median list_min list_mode list_pack list_position list_prepend list_product list_reverse list_select
  list_slice list_stddev_pop list_stddev_samp list_string_agg list_sum list_transform list_unique list_value list_var_pop
  list_var_samp list_where list_zip unnest`

const structs = `map map_concat map_contains map_contains_entry map_contains_value map_entries map_extract map_extract_value
  map_from_entries map_keys map_values row struct_concat struct_contains struct_extract struct_extract_at struct_has
  struct_insert struct_keys struct_pack struct_position struct_update struct_values union_extract union_tag union_value
  enum_code enum_first enum_last enum_range`

const json = `array_to_json from_json from_json_strict json json_array json_array_length json_contains json_exists json_extract
  json_extract_path json_extract_path_text json_extract_string json_group_array json_group_object json_keys json_merge_patch
  json_object json_quote json_structure json_transform json_transform_strict json_type json_valid json_value row_to_json to_json`

const geometry = 'st_asbinary st_astext st_aswkb st_aswkt st_crs st_geomfromwkb st_intersects_extent st_setcrs'

const aggregates = `any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_min arg_min_null
  argmax argmin array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count count_if count_star countif covar_pop covar_samp
  entropy favg first fsum geomean geometric_mean group_concat histogram histogram_exact kahan_sum kurtosis kurtosis_pop last list
  listagg mad max max_by mean median min min_by mode product quantile quantile_cont quantile_disc regr_avgx regr_avgy regr_count
  regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy reservoir_quantile sem skewness stddev stddev_pop stddev_samp
  string_agg sum sum_no_overflow sumkahan var_pop var_samp variance wavg weighted_avg`

const windows = `cume_dist dense_rank fill first_value lag last_value lead nth_value ntile percent_rank rank rank_dense row_number`

const groups = [operators, comparing, numeric, text, time, uuids, lists, structs, json, geometry, aggregates, windows]

const words = (group: string): string[] => group.trim().split(/\s+/)

export const allowedFunctions: ReadonlySet<string> = new Set(groups.flatMap(words))

/** Those that stand where a table does. */
export const allowedTableFunctions: ReadonlySet<string> = new Set(['range', 'generate_series', 'unnest'])
