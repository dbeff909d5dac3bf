/**
 * The functions of PostgreSQL 15 to 18 that tenants may call, by name: pure functions of their arguments, of the clock or of
 * chance. None takes or returns an object identifier (`regclass`, `oid`, …) but for those of xid and oid that `age`, `min` and
 * `max` have; none reads a catalog, a setting, a file or SQL in a text. A test holds every overload against the live catalog.
 */
export const sqlFunctions: ReadonlySet<string> = new Set([
  // Aggregates and window functions.
  ...words(`any_value array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count covar_pop covar_samp cume_dist
    dense_rank every first_value json_agg json_agg_strict json_object_agg json_object_agg_strict
    json_object_agg_unique json_object_agg_unique_strict jsonb_agg jsonb_agg_strict jsonb_object_agg
    jsonb_object_agg_strict jsonb_object_agg_unique jsonb_object_agg_unique_strict lag last_value lead max min
    mode nth_value ntile percent_rank percentile_cont percentile_disc range_agg range_intersect_agg rank regr_avgx
    regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy row_number stddev stddev_pop
    stddev_samp string_agg sum var_pop var_samp variance xmlagg`),
  // Numbers.
  ...words(`abs acos acosd acosh asin asind asinh atan atan2 atan2d atand atanh bit_count cbrt ceil ceiling cos cosd cosh
    cot cotd degrees div erf erfc exp factorial floor gamma gcd generate_series get_bit get_byte lcm lgamma ln log
    log10 min_scale mod num_nonnulls num_nulls pi pow power radians random random_normal round scale set_bit
    set_byte sign sin sind sinh sqrt tan tand tanh to_number trim_scale trunc width_bucket`),
  // Texts.
  ...words(`ascii bit_length btrim casefold char_length character_length chr concat concat_ws convert convert_from
    convert_to crc32 crc32c decode encode format hashtext hashtextextended initcap is_normalized left length like
    like_escape lower lpad ltrim md5 normalize notlike octet_length overlay parse_ident position quote_ident
    quote_literal quote_nullable regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace
    regexp_split_to_array regexp_split_to_table regexp_substr repeat replace reverse right rpad rtrim sha224
    sha256 sha384 sha512 similar_escape similar_to_escape split_part starts_with string_to_array string_to_table
    strpos substr substring to_ascii to_bin to_char to_hex to_oct translate unistr upper`),
  // Dates and times.
  ...words(`age clock_timestamp date_add date_bin date_part date_subtract date_trunc extract isfinite justify_days
    justify_hours justify_interval make_date make_interval make_time make_timestamp make_timestamptz now overlaps
    statement_timestamp timeofday timezone to_date to_timestamp transaction_timestamp`),
  // Arrays.
  ...words(`array_append array_cat array_dims array_fill array_length array_lower array_ndims array_position
    array_positions array_prepend array_remove array_replace array_reverse array_sample array_shuffle array_sort
    array_to_json array_to_string array_upper cardinality generate_subscripts trim_array unnest`),
  // Json.
  ...words(`json_array_elements json_array_elements_text json_array_length json_build_array json_build_object json_each
    json_each_text json_extract_path json_extract_path_text json_object json_object_keys json_populate_record
    json_populate_recordset json_strip_nulls json_to_record json_to_recordset json_typeof jsonb_array_elements
    jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_concat jsonb_contained
    jsonb_contains jsonb_delete jsonb_delete_path jsonb_each jsonb_each_text jsonb_exists jsonb_exists_all
    jsonb_exists_any jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_keys
    jsonb_path_exists jsonb_path_exists_tz jsonb_path_match jsonb_path_match_tz jsonb_path_query
    jsonb_path_query_array jsonb_path_query_array_tz jsonb_path_query_first jsonb_path_query_first_tz
    jsonb_path_query_tz jsonb_populate_record jsonb_populate_record_valid jsonb_populate_recordset jsonb_pretty
    jsonb_set jsonb_set_lax jsonb_strip_nulls jsonb_to_record jsonb_to_recordset jsonb_typeof row_to_json to_json
    to_jsonb`),
  // Ranges.
  ...words(`isempty lower_inc lower_inf multirange range_merge upper_inc upper_inf`),
  // Text search.
  ...words(`array_to_tsvector json_to_tsvector jsonb_to_tsvector numnode phraseto_tsquery plainto_tsquery querytree
    setweight strip to_tsquery to_tsvector ts_delete ts_filter ts_headline ts_rank ts_rank_cd tsquery_phrase
    tsvector_to_array websearch_to_tsquery`),
  // Network addresses.
  ...words(`abbrev broadcast family host hostmask inet_merge inet_same_family macaddr8_set7bit masklen netmask network
    set_masklen`),
  // PostgreSQL's own geometry.
  ...words(`area bound_box center diagonal diameter height isclosed ishorizontal isopen isparallel isperp isvertical
    npoints pclose popen radius slope width`),
  // Xml.
  ...words(`xml_is_well_formed xml_is_well_formed_content xml_is_well_formed_document xmlcomment xmlexists xmltext xpath
    xpath_exists`),
  // Other.
  ...words(`current_database current_schema enum_first enum_last enum_range gen_random_uuid pg_collation_for
    pg_column_size pg_size_bytes pg_size_pretty uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7`),
])

/** Types that tenants may cast to. The texts of others (`regclass`, `regrole`, `aclitem`, row types, …) tell what there is. */
export const sqlTypes: ReadonlySet<string> = new Set(
  words(`bool int2 int4 int8 float4 float8 numeric money text varchar bpchar char bytea bit varbit date time timetz
    timestamp timestamptz interval json jsonb jsonpath uuid xml inet cidr macaddr macaddr8 point line lseg box
    path polygon circle tsvector tsquery int4range int8range numrange tsrange tstzrange daterange int4multirange
    int8multirange nummultirange tsmultirange tstzmultirange datemultirange geometry geography box2d box3d
    geometry_dump valid_detail spheroid name`),
)

function words(text: string): string[] {
  return text.split(/\s+/)
}
