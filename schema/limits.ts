import { atomicAmount } from './amount.ts';

/*
 * The specification's table of limits, and those that it leaves to us: a table for each subject, units last in each name. A bundle for
 * browsers leaves out the tables that it does not use, which it can only where they are made without side effects.
 */

/* @__NO_SIDE_EFFECTS__ */
function ki(count: number): number {
  return count * 1_024;
}

/* @__NO_SIDE_EFFECTS__ */
function minutesInMs(minutes: number): number {
  return minutes * 60_000;
}

/* @__NO_SIDE_EFFECTS__ */
function hoursInMs(hours: number): number {
  return hours * 3_600_000;
}

/* @__NO_SIDE_EFFECTS__ */
function daysInSeconds(days: number): number {
  return days * 86_400;
}

/** The largest number that the graph's Int and the database's integer hold: the bound of counts, positions and seconds. */
export const INT_MAX = 2 ** 31 - 1;

/** Limits of everything that has no table of its own below. */
export const limits = {
  call_price_atomic: atomicAmount(2000n),
  stamp_price_atomic: atomicAmount(2000n),
  /** Of the legacy rail's labels: we are paid in USDC whatever the rail says, and nothing is taken off that. */
  tfuel_fee_bps: 0,
  /** From this amount on GET /prove-result shows the settlement unasked. */
  settlement_proof_gate_atomic: atomicAmount(1_000_000n),
  book_page_rows_default: 50,
  book_page_rows_max: 200,
  /** An id that this service has assigned. */
  id_chars_max: 64,
  /** An id or a reference by which rows are searched. */
  row_name_chars_max: 512,
  /** Read to say how many rows a filter names, where no sum is kept of that: 15 ms of the database for all of them. */
  matching_rows_read_max: 10_000,
  /** Groups of one dimension in the totals of a book. */
  totals_groups_max: 1_000,
  /** Books that a caller shows sessions for: most show one. */
  viewer_books_assumed: 4,
  written_statements_prepared_max: 64,
  allowance_ms_max: 1_000,
  allowances_kept_max: 1_000,
  /** Of one row and hour: each is an event of its own. What comes beyond is counted. */
  replay_events_per_hour_max: 20,
  /** Of one policy version, policy code, intent and hour: each is a row with a signed refusal. What comes beyond is 429. */
  blocked_rows_per_hour_max: 20,
  /** Of one book, whatever its policies and the calls' intents: from then on it is told of, and has no row. */
  blocked_rows_per_book_hour_max: 200,
  /** What is counted becomes one event of its row and kind after so long. */
  counted_seconds: 60,
  counted_per_transaction_max: 200,
  wallet_signature_age_seconds_max: 300,
  wallet_signature_ahead_seconds_max: 30,
  /** Contract wallets sign at length (WebAuthn, ERC-6492 with its factory's call), as in payments. */
  wallet_signature_chars_max: 2 + 2 * 6_000,
  /** Members of a registration, longer than valid ones: it has error codes of its own for an invalid address or proof. */
  registered_wallet_chars_max: 128,
  registration_proof_chars_max: 128,
  /** A wallet in a path. */
  path_wallet_chars_max: 64,
  /** Level and index of a tile of the log in its path. */
  tile_level_chars_max: 2,
  tile_path_chars_max: 32,
  /** Books that have lost events, in ascending order. */
  broken_books_named_max: 20,
  /** In one request or socket: each is looked up in the same read. */
  sessions_per_caller_max: 64,
  book_proof_window_seconds: 300,
  book_proof_nonce_chars_min: 16,
  book_proof_nonce_chars_max: 64,
  /** Writes by plain proofs and requests by bound ones, of one agent within ten minutes: each leaves a row for as long. */
  book_proofs_taken_max: 10_000,
  /** What serves once is remembered for so long beyond its time: another process, or the database, may be behind us. */
  clocks_apart_seconds_max: 60,
  temperature_max: 2,
  penalty_max: 2,
  model_id_chars_max: 200,
  /** When every listed model is said to have been made: no hub tells, and a list that changes with each start is none. */
  models_created_seconds: 1_767_225_600,
  usdc_decimals: 6,
  intent_id_chars_max: 128,
  /** What a client calls its payment, within the bounds of x402's extension payment-identifier. */
  payment_identifier_chars_min: 16,
  payment_identifier_chars_max: 128,
  /** Under way at once by one key, in one process: each costs a hub's answer that nobody pays for. */
  key_calls_underway_max: 64,
  idempotency_key_chars_max: 255,
  /** Of one API key, within the time that answers are kept: under each lies an answer. */
  idempotency_keys_max: 10_000,
  idempotent_answers_bytes_max: 1024 * 1024 * 1024,
  /** The same of what is written without a payment, by one credential. */
  written_once_max: 1_000,
  written_once_bytes_max: 16 * 1024 * 1024,
  written_once_answer_bytes_max: 256 * 1024,
  written_once_underway_seconds_max: 60,
  request_bytes_max: 1024 * 1024,
  /** Of a body that is no work to be done: a policy, a registration, a proof. */
  small_request_bytes_max: 16 * 1024,
  /** Of any JSON that is read. */
  json_depth_max: 64,
  json_members_max: 50_000,
  chat_messages_max: 5_000,
  content_parts_max: 1_000,
  /** OpenAI's own bound. */
  tools_max: 128,
  tool_calls_max: 128,
  /** Of a hub's `reasoning_details`; what is beyond them is left out of the answer. */
  reasoning_details_max: 1_000,
  reasoning_details_depth_max: 16,
  reasoning_details_members_max: 10_000,
  /** Of what a hub counts beside the tokens of request and answer: in one object, and how deep these lie in each other. */
  usage_details_max: 32,
  usage_details_depth_max: 3,
  tool_name_chars_max: 128,
  tool_call_id_chars_max: 256,
  cache_scope_chars_max: 64,
  tool_description_chars_max: 64 * 1024,
  /** Of one schema, of a tool's arguments or of an answer. */
  tool_schema_depth_max: 48,
  tool_schema_members_max: 10_000,
  /** Names of betas of Anthropic's API, in one request. */
  betas_max: 32,
  betas_chars_max: 1_024,
  /** Of a member that is passed on to hubs without being known here. */
  forwarded_depth_max: 32,
  forwarded_name_chars_max: 128,
  /** In one object. */
  forwarded_members_max: 1_000,
  stop_texts_max: 4,
  stop_text_chars_max: 500,
  image_prompt_chars_max: 32_000,
  image_side_pixels_min: 64,
  image_side_pixels_max: 2_048,
  image_url_chars_max: 2_048,
  /** Of the media type of a file in a data: URL, what stands behind the slash. */
  media_subtype_chars_max: 100,
  audio_part_format_chars_max: 16,
  /** OpenAI's own bound. */
  embedding_inputs_max: 2_048,
  /** Of one text: more than any model on offer reads. */
  embedding_tokens_max: 32_768,
  embedding_dimensions_max: 16_384,
  transcription_prompt_chars_max: 4_000,
  transcription_segments_max: 20_000,
  upload_file_bytes_max: 25 * 1024 * 1024,
  /** The form around it, its boundaries and all other fields included. */
  upload_form_bytes_max: (25 * 1024 + 256) * 1024,
  upload_fields_max: 32,
  upload_field_bytes_max: 16 * 1024,
  /** Of all files on their way at once; while a hub is asked each of them is there twice. */
  uploads_bytes_max: 256 * 1024 * 1024,
  /** Of that, what one payer's files may take, and those that come from one address: many agents may share one. */
  uploads_payer_bytes_max: 64 * 1024 * 1024,
  uploads_address_bytes_max: 128 * 1024 * 1024,
  /** From its delivery to the document that asks for it. */
  upload_unasked_ms_max: 60_000,
  /** A refused request's body up to this is read away so that the connection lives on; more, and it is closed. */
  unread_body_drained_bytes_max: 64 * 1024,
  linger_ms_max: 1_000,
  /** Below it what is saved is less than what compressing costs. */
  compressed_answer_bytes_min: 1_024,
  path_parameter_chars_max: 200,
  answer_bytes_max: 4 * 1024 * 1024,
  /** A picture of the largest size, as a PNG in base64; less than `subgraph_answer_bytes_max`, which it goes on in. */
  image_answer_bytes_max: 12 * 1024 * 1024,
  /**
   * Vectors as they go out: some 900,000 numbers, or 1,500 vectors of 1,536 in base64. Less than `subgraph_answer_bytes_max`, which
   * they go on in, and a third of a second of work.
   */
  embedding_answer_chars_max: 12 * 1024 * 1024,
  /** The same as hubs send them: OpenAI indents its JSON, which takes up to twice as much. */
  embedding_hub_answer_bytes_max: 24 * 1024 * 1024,
  answer_kept_hours: 24,
  /** Of one payment: answers that broke off by the hub's doing when the work was done once more. */
  reruns_max: 3,
  /** After `validBefore`: a payment that came to nothing, of which the chain has said that it never moved. */
  claim_forgotten_after_seconds: 3_600,
  claims_forgotten_per_transaction_max: 500,
  /** Of our clock, from the database's or the chain's: beyond it no paid calls are wanted here. */
  clock_off_ms_max: 30_000,
  hub_timeout_ms: 60_000,
  /** Over all hubs that one call asks: the claim of a call must outlive it. */
  hubs_timeout_ms: 120_000,
  /** From the asking to the last piece of a stream: the claim must outlive that, too, and what comes after it. */
  hub_stream_ms_max: 120_000,
  /** One event of a hub's stream; a hub may say all that it has to say in one. */
  hub_event_chars_max: 1024 * 1024,
  /** What a hub has said while its payment settles; more, and it is not read until the payment has. */
  stream_buffer_bytes_max: 256 * 1024,
  /** On a clean stop streams in flight have so long to come to their end; then their hubs are cut off. */
  stream_stop_ms_max: 20_000,
  /** A whole clean stop, less than the 90 s after which a service manager kills: what is left by then reconcile finishes. */
  stop_ms: 80_000,
  /** Of which in production so long is left to whoever spreads calls, to notice that none are wanted here. */
  drain_ms: 5_000,
  stop_ms_max: 600_000,
  /** While a stop is hurried: for what is nearly done. */
  stop_hurried_ms: 2_000,
  /** One key press comes twice: from the terminal to all its processes, and once more passed on by npm. */
  signal_echo_ms: 1_000,
  /** What is read of an answer that refuses, what of its message is passed on, and from which length on parts of a hub's address and its key are kept out of it. */
  hub_error_bytes_max: 64 * 1024,
  hub_message_chars_max: 500,
  hub_secret_chars_min: 8,
  hub_connections_max: 128,
  /** Callers who wait for a socket to one hub: whoever comes next goes to the next hub at once. */
  hub_waiting_max: 1_024,
  hub_connect_ms_max: 5_000,
  /** A hub that says nothing for so long in the midst of a stream has broken off. */
  hub_stream_idle_ms_max: 30_000,
  /** A hub whose circuit is open is asked last for so long, not never: another may be down too. Doubled at each failed probe. */
  hub_rest_ms: 10_000,
  hub_rest_ms_max: 300_000,
  /** In which a failure comes to weigh half. */
  hub_failing_half_life_ms: 30_000,
  /** What it is taken to cost in time to ask a hub that always fails. */
  hub_failure_costs_ms: 10_000,
  /** By so much and by half a hub must be better than the one that is asked first, to be asked first. */
  hub_lead_ms_min: 100,
  /** Of the calls so many go first to a hub that was not asked for so long, and each such hub gets one of them in that time. */
  hub_trial_share: 1 / 16,
  hub_trial_every_ms: 60_000,
  router_key_chars_max: 512,
  /** Of the router's list of models so many are listed. */
  router_models_max: 500,
  router_models_bytes_max: 4 * 1024 * 1024,
  router_models_fetch_ms_max: 10_000,
  /** Whoever asks before the first fetch has ended waits for so long. */
  router_models_wait_ms_max: 2_000,
  router_models_fresh_ms: 300_000,
  router_models_retry_ms: 15_000,
  /** Calls of one payment that came to nothing by their request or router key; after that it is taken no more. */
  payment_failures_max: 5,
  /** Requests that one address may show with a payment that was made for another, before it must prove to be its payer. */
  payment_mismatches_per_address_max: 5,
  /** The same of all addresses together, but for the one that paid. */
  payment_mismatches_max: 50,
  payment_header_bytes_max: 16 * 1024,
  /** Of each name in a payment: its scheme, its network, its asset, its payee. */
  payment_name_chars_max: 100,
  /** All headers of an answer, its status line included: stock proxies (nginx, 4 kB) answer 502 in place of a longer one. */
  answer_headers_bytes_max: 3_072,
  /** The same of a 402, whose PAYMENT-REQUIRED has to hold the offers of all networks; and what may stand beside that header. */
  challenge_headers_bytes_max: 3_584,
  challenge_beside_bytes_max: 960,
  /** Why a payment did not do, in that header. */
  challenge_error_chars_max: 80,
  /** A model or a hub in a header: what others have named at length is in the body alone. */
  named_header_bytes_max: 96,
  /** Headers whose payments are known by them: the newest, of an ordinary length. */
  payment_headers_remembered_max: 1_000,
  payment_header_remembered_bytes_max: 4 * 1024,
  /** All of a request's headers: a payment of the largest size fits in twice, once by each version's name. */
  request_headers_bytes_max: 64 * 1024,
  request_headers_ms_max: 15_000,
  /** For the request to arrive whole, not for the answer. */
  request_ms_max: 30_000,
  request_checked_every_ms: 5_000,
  payment_timeout_seconds_max: 300,
  /** Shorter than this and the authorisation may expire before our transaction is mined. */
  payment_validity_seconds_min: 6,
  /** The same with time for the work before it. */
  payment_validity_with_work_seconds_min: 10,
  /** Of the chain's time: the head that we know may be one block (2 s) old, and the next takes what we send now. */
  payment_settle_seconds_min: 4,
  /** Longer, and a payment that came to nothing would have to be watched for ever. */
  payment_validity_seconds_max: 31 * 24 * 3600,
  /** After `validBefore`: by then a payment that a facilitator vouched for has been seen on the chain, or counts no more. */
  arrival_cutoff_seconds: 3_600,
  /** Blocks of Base, its own counted, before a payment to somebody else is believed: 20 s. The final block rechecks it. */
  foreign_confirmations_min: 10,
  /** The same of a development chain, which makes no block that nobody asks for. */
  foreign_confirmations_development_min: 1,
  /** Final blocks of Base behind the one it was seen in, without it: ten minutes, in which it may be mined again. */
  foreign_vanished_blocks_min: 300,
  /** The same in slots of Solana: by then its blockhash, which is good for 150 blocks, has run out twice over. */
  foreign_vanished_slots_min: 600,
  /** About as long as Solana takes a transaction after its blockhash: 150 blocks of 0.4 s. The block height decides. */
  solana_blockhash_seconds: 60,
  /**
   * What a payer may have our fee payer pay for his transaction: compute units, and the price of each. x402's client asks
   * for 20,000 units at 1 microlamport. Both together are 300 lamports, beside the 10,000 that two signatures cost anyway.
   */
  solana_compute_units_max: 60_000,
  solana_priority_fee_microlamports_max: 5_000,
  group_commit_items_max: 64,
  /** Computed again before anything is served: half a second of work. The older ones follow while it is served. */
  log_audit_leaves_max_at_start: 20_000,
  /** The books of so many of the newest receipts are audited before anything is served; all others while it is. */
  book_audit_receipts_max_at_start: 200,
  settlement_batch_authorisations_max: 100,
  /** Connections of the pool to Postgres by which a process answers calls, where no variable says another number. */
  database_connections_max_default: 16,
  /** Gas money for one authorization of a batch: twice the price of a call. */
  settle_fee_atomic_default: atomicAmount(4_000n),
  /** 100 USDC for all settlements of a UTC day: the price of 50,000 calls. */
  settle_fee_day_atomic_default: atomicAmount(100_000_000n),
  /** Of one contract wallet's payment, its deployment and its own check of the signature included: no more is lost on it. */
  wallet_gas_max: 500_000,
  /** After a contract wallet's payment was reverted on the chain, though its simulation had passed, none of its is taken. */
  wallet_reverted_rest_seconds: 600,
  /** For so long what stands at a payer's address is taken as it was seen: less than two blocks. */
  payer_look_ms: 2_000,
  /** Addresses that are looked at at once, for payments that no key of theirs has signed. */
  payer_looks_underway_max: 1_000,
  /** Contract wallets that are asked at once whether a payment is theirs; those that have paid within a day apart. */
  unproven_turns_at_once_max: 4,
  unproven_turn_wait_ms_max: 5_000,
  unproven_waiting_per_address_max: 32,
  /** Of one address, in the names of payers who have not paid yet. */
  unproven_questions_max: 200,
  unproven_questions_seconds: 10,
  /** Forged payments of one address that are refused at once; beyond that each 402 comes a second later. */
  forged_per_address_second_max: 100,
  contract_payer_known_seconds: 24 * 3_600,
  /** The first rest of a payer whose key's payment the chain reverted, having passed every check; doubled each time, up to that. */
  payer_reverted_rest_seconds: 2,
  graphql_tokens_max: 2_000,
  /** Parsed documents that are kept; longer ones are parsed each time. */
  graphql_documents_kept_max: 1_000,
  graphql_document_kept_chars_max: 16 * 1024,
  /** All of them together: a parsed document and its plan take some fifty times its text. */
  graphql_documents_kept_chars_max: 1024 * 1024,
  graphql_operations_max: 10,
  graphql_fragments_max: 50,
  /** Selection sets in each other. Introspection as the official tools ask for it has 18, our deepest type 4. */
  graphql_depth_max: 20,
  graphql_root_fields_max: 10,
  graphql_aliases_max: 100,
  graphql_directives_max: 50,
  /** Every fragment counted wherever it is spread. */
  graphql_fields_max: 300,
  /** Beside another of the same response name: GraphQL compares each with each. */
  graphql_repeated_fields_max: 30,
  /** Fields that one execution completes. A page of 200 rows with all that is known of each has 21,900, official introspection 21,400. */
  graphql_cost_max: 25_000,
  /** A root field is at least one look into the database. */
  graphql_root_field_cost: 100,
  /** What one answer, or one event, may come to as JSON; measured before it is written. As much as a subgraph elsewhere may answer. */
  graphql_answer_bytes_max: 16 * 1024 * 1024,
  /** Of one document: whoever asks for what is not there is told a few times, not a hundred. */
  graphql_faults_max: 5,
  /** GraphQL's messages quote what was asked for, however long. */
  graphql_fault_chars_max: 500,
  /** What a hub is passed on lies so deep, below the input, its list of messages, a message and that one's `extra`. */
  graphql_variables_depth_max: 40,
  graphql_variables_values_max: 20_000,
  /** Of one text, but where a paid field may take a long one. */
  graphql_variables_chars_max: 16 * 1024,
  /** Of a signed call from a gateway to a subgraph: how far its time may lie from the subgraph's own. */
  subgraph_call_age_seconds_max: 30,
  /** Calls that a subgraph remembers, so that none is taken twice; where there are more within their age, none is taken. */
  subgraph_calls_remembered_max: 500_000,
  /** A planned query with its variables: a whole request, written anew. */
  subgraph_request_bytes_max: 4 * 1024 * 1024,
  subgraph_answer_bytes_max: 16 * 1024 * 1024,
  /** The last event of a streamed response says all of it once more. */
  subgraph_event_chars_max: 16 * 1024 * 1024,
  socket_message_bytes_max: 64 * 1024,
  socket_subscriptions_max: 50,
  /** Of live events that a reader has not taken yet: beyond it, it is told to come back, and hung up on if it does not hear. */
  socket_buffered_bytes_max: 512 * 1024,
  socket_slow_ms_max: 10_000,
  socket_init_ms_max: 3_000,
  /** Frames of whatever kind from one socket: at once, and per second after that. */
  socket_frames_burst_max: 1_500,
  socket_frames_per_second_max: 100,
  /** One message may come in so many pieces; its bytes are bounded, but an empty piece has none. */
  socket_message_fragments_max: 128,
  /** Sockets included. Each open one takes a descriptor and, where it is secured, some 30 KiB. */
  connections_max: 10_000,
  /** Proxies and offices stand for many: high enough for thousands, low enough that one does not take all. */
  connections_per_address_max: 5_000,
  /** Whom a process counts at once, for each of its rates: some 20 MB where all of them are full. */
  rate_callers_max: 100_000,
  /** Longer than any answer is silent; whoever takes none of an answer for so long is not waited for. */
  connection_silent_ms_max: 300_000,
  /** Between an answer and the next request: longer than proxies keep a connection that they may still use. */
  connection_idle_ms_max: 72_000,
  /** Asked over one connection before the first is answered. */
  requests_per_connection_underway_max: 64,
  feed_page_events_max: 200,
} as const;

/** How many of the newest replays of a row, and attempts at an intent, are shown. */
export const rowLimits = { replays_shown_max: 200, attempts_shown_max: 200 } as const;

/** Of what a book's owner may set, and of trying it out. */
export const policyLimits = {
  /** Of a model_allowlist. */
  allowed_models_max: 100,
  /** Of all of its ids together: every call locks and reads them, and every change of any policy keeps them once more. */
  allowed_models_bytes_max: ki(8),
  /** Changes of the policies and the budget of one book, and of its alerts: each is an event for ever, and nobody pays for it. */
  changes_per_book_hour_max: 200,
  /** For how long an approval stays fresh where the book does not say. */
  approval_ttl_seconds: 300,
  approval_ttl_seconds_max: daysInSeconds(1),
  /** Rows of a book that one page of a simulation looks at, so many at a time. */
  simulated_rows_max: 10_000,
  simulated_rows_at_once: 200,
  /** Of one process. */
  simulations_at_once_max: 2,
  simulation_wait_ms_max: 5_000,
  simulations_waiting_per_book_max: 4,
  simulation_cursor_chars_max: 4_096,
} as const;

/** Of what a book alerts its owner of. */
export const alertLimits = {
  thresholds_max: 10,
  threshold_percent_max: 100,
  burn_factor_min: 2,
  burn_factor_max: 1_000,
  /** How far ahead an alert may announce the end of the budget. */
  budget_end_ahead_hours_max: 720,
  /** Of a book: the newest. */
  alerts_shown_max: 20,
  changes_shown_max: 20,
  /** Ten calls: of what is spent less in an hour nobody can tell where it leads. */
  rate_atomic_min: /* @__PURE__ */ atomicAmount(20_000n),
  /** What a book is used to is told by its days with spend, of so many before the present one, once there are so many. */
  habit_days_max: 14,
  habit_days_min: 3,
  /** A budget that lasts longer at the present rate has no end to be told of. */
  budget_end_hours_max: 8_760,
} as const;

/** Of approvals by people. */
export const approvalLimits = {
  /** Of one book: whoever is refused more often leaves no more to be answered. */
  open_per_book_max: 20,
  token_chars_max: 64,
  /** Of what is shown of a request, and of what its caller says of it. */
  request_text_characters_max: 2_000,
  note_characters_max: 280,
  shown_max: 200,
  /** After its time a request is shown for so long. */
  kept_days: 30,
  forgotten_at_once_max: 500,
} as const;

/** Lists for a buyer, by its wallet or its key. */
export const buyerLimits = {
  receipts_page_default: 25,
  receipts_page_max: 50,
  tasks_page_default: 50,
  tasks_page_max: 100,
  /** The newest tasks of a buyer. Older ones are in no list. */
  listed_tasks_max: 1_000,
} as const;

/** Of what is exported of a book. */
export const exportLimits = {
  rows_max: 200,
  /** Of a stream of the whole book: one statement and one piece of its answer. */
  page_rows: 1_000,
  /** Of a stream of rows that match: counted by one statement, before its first piece. */
  counted_seqs: 50_000,
  /** Under way at once in one process: each keeps a processor of the database busy for as long as its reader takes all. */
  streams_max: 8,
  streams_per_book_max: 2,
  /** Over all streams of a process, in turns: a stream reads one page ahead of its reader. */
  pages_read_at_once_max: 4,
  page_wait_ms_max: 10_000,
  parquet_group_pages: 4,
  /** Of the name of an account in a journal. */
  account_chars_max: 100,
  /** Looks at every row of a book, which may have any number of them; then the export says that it did not finish. */
  pull_scan_ms_max: 5_000,
  pulls_built_at_once_max: 2,
  pull_wait_ms_max: 10_000,
  pull_waiting_per_book_max: 2,
} as const;

/** Of what is shown of a row's lineage; a page of descendants is one of rows. */
export const lineageLimits = {
  /** How many steps it is followed, up and down. */
  steps_max: 1_000,
  /** Of one row: the first in the order of the book. Each of them has descendants of its own to ask for. */
  descendants_max: 10_000,
  /** In one process: the widest lineage takes about a second of the database. */
  reads_at_once_max: 4,
  read_wait_ms_max: 5_000,
  reads_waiting_per_book_max: 16,
} as const;

/** Of assignments and of the slices that they open. */
export const sliceLimits = {
  /** Of one book, each with a token that somebody holds. */
  live_per_book_max: 50,
  /** Of those that are over, the newest that are kept and listed. */
  over_kept_max: 50,
  grantee_chars_max: 200,
  task_ids_max: 100,
  task_chars_max: 128,
  rows_max: 200,
} as const;

/** Of what is recorded of payments to others. */
export const ingestLimits = {
  /** What was delivered may come along whole: it is hashed, and kept nowhere. */
  request_bytes_max: ki(256),
  /** A settlement header as another shop sent it. */
  payment_response_chars_max: ki(16),
  /** Of one signed artifact of the shop. */
  jws_chars_max: ki(8),
  description_chars_max: 500,
  resource_chars_max: 2_048,
  hub_chars_max: 128,
  model_chars_max: 512,
  omission_rule_chars_max: 128,
  /** As text, such as `sha256:` and its hex digits. */
  commitment_chars_max: 80,
  payer_signature_seconds_max: 300,
  /** Looked at again in one round. */
  rechecked_per_round_max: 100,
  corrected_per_round_max: 100,
} as const;

/** Of the names by which a request says which payment to somebody else it means. */
export const foreignNameLimits = {
  /** A wallet, or a token. */
  address_chars_max: 128,
  /** A transaction, with or without its network before it. */
  transaction_chars_max: 160,
  network_chars_max: 64,
  block_chars_max: 64,
} as const;

/** Of reconciliations. */
export const reconciliationLimits = {
  /** Of one request: about 28 hours of Base. */
  blocks_max: 50_000,
  /** Asked of a node at once; halved where it refuses. */
  page_blocks_max: 2_000,
  /** A page that holds more is asked for in halves, so that no transaction has to write more. */
  page_transfers_max: 2_000,
  /** Between two turns of the queue, so that no report holds up another. */
  pages_per_turn_max: 4,
  /** Of a document: those beyond it are in its sums alone. */
  listed_transfers_max: 2_000,
  /** Of one agent: nobody pays for them. */
  per_agent_day_max: 24,
  /** Of one agent, the newest: older ones are dropped. */
  kept_per_agent_max: 50,
  /** After so long without a page one fails by the name of what it waits for. */
  waits_seconds_max: 600,
  /** Between two questions to whoever did not answer. */
  rest_ms: 1_000,
  /** One that nobody has worked on for so long is over: its job is gone. */
  abandoned_seconds: 7_200,
  /** Of the receipts that somebody has paid for, the newest: enough to say that a wallet pays for this agent's calls. */
  payer_receipts_looked_at_max: 1_000,
} as const;

/** Of all that is written on books without a payment (inflows, disputes, escrows) or on the board (likes, confirms), together, in one process. */
export const freeWriteLimits = {
  /** Beside the four connections of jobs: of the pool's sixteen half is left to those who pay. */
  at_once_max: 4,
  wait_ms_max: 5_000,
  waiting_per_book_max: 64,
} as const;

/** Of inflows and their corrections. */
export const inflowLimits = {
  /** Of one book, both together: nobody pays for them. */
  rows_per_book_hour_max: 200,
  /** Of an inflow, the newest that its row shows: so many, of so many bytes together, and the newest of any size. */
  corrections_shown_max: 200,
  corrections_shown_bytes_max: ki(16),
  bucket_chars_max: 64,
  /** Of the base URL of the service that a wallet names. */
  service_chars_max: 512,
  hub_chars_max: 128,
  /** Of an id that its caller chose. */
  task_chars_max: 128,
  reason_chars_max: 500,
  /** Of the branches of a fork that a correction names. */
  merges_max: 16,
  /** Of the object that a correction may carry. */
  correction_bytes_max: ki(4),
  correction_depth_max: 8,
  correction_members_max: 100,
} as const;

/** Of disputes. */
export const disputeLimits = {
  evidence_bytes_max: ki(16),
  evidence_depth_max: 16,
  evidence_members_max: 1_000,
  /** Of a filed dispute: its evidence, and what else it says. */
  request_bytes_max: ki(20),
  /** Of one row and kind of claim, each with other evidence: nobody pays for them. */
  per_claim_max: 10,
  /** Of one book. */
  filed_per_book_hour_max: 60,
  /** For how long after its payment the winner of a challenged job may reveal its output. A part of rule 3: another bound is another rule. */
  reveal_awaited_seconds: daysInSeconds(7),
} as const;

/** Of escrows. Nobody pays for one. */
export const escrowLimits = {
  /** Of a book that opens them, of either kind by itself. */
  live_per_book_max: 100,
  opens_per_book_hour_max: 60,
  /** From one book to one other. */
  live_per_pair_max: 10,
  opens_per_pair_hour_max: 20,
  /** To the webhook of a counterparty that wants to be told. */
  offers_told_per_book_hour_max: 10,
  /** Where nobody says when an escrow ends. */
  lasts_seconds_default: daysInSeconds(7),
  lasts_seconds_max: daysInSeconds(90),
  page_default: 20,
  page_max: 50,
  task_chars_max: 128,
  job_chars_max: 128,
  evidence_bytes_max: ki(4),
  evidence_depth_max: 8,
  evidence_members_max: 100,
  /** No escrow has more phases than its longest way: opened, funded, submitted, challenged, and its end. */
  phases_max: 5,
  /** Of a phase, as its cost is weighed: a release alone has any, up to five. */
  checks_assumed: 1,
  /** Read at once, and written in one round. */
  expired_per_batch_max: 50,
  expired_per_round_max: 1_000,
} as const;

/** Of webhooks. */
export const webhookLimits = {
  url_chars_max: 2_048,
  /** Of a caller's own secret; of one that begins with `whsec_` the bytes behind it are counted (Standard Webhooks 1.0.0). */
  secret_chars_min: 24,
  secret_chars_max: 256,
  secret_bytes_min: 24,
  secret_bytes_max: 64,
  /** Of one that is made here. */
  secret_bytes: 32,
  /** So long an old secret signs beside the new one; and no more than so many old ones do. */
  old_secret_ms: hoursInMs(24),
  old_secrets_max: 2,
  changes_per_hour_max: 20,
  pings_per_hour_max: 20,
  redeliveries_per_hour_max: 20,
  /** Of one redelivery: how far its range reaches, and how many messages it sends. */
  redelivered_positions_max: 10_000,
  redelivered_messages_max: 1_000,
  /** Of a book: the newest, and for how long. */
  dead_letters_max: 1_000,
  dead_letter_days: 30,
  dead_letters_page_max: 200,
  dead_letters_page_default: 50,
  /** A delivery: from the look-up of the name to the end of the answer. */
  attempt_ms_max: 10_000,
  /** After so long without an answer it makes room for others. */
  prompt_ms_max: 1_000,
  /** Of an answer: what comes beyond is not read. */
  answer_bytes_max: 4_096,
  /** The waits before each attempt but the first; after the last of them a message is a dead letter. */
  retry_ms: [
    5_000,
    minutesInMs(5),
    minutesInMs(30),
    hoursInMs(2),
    hoursInMs(5),
    hoursInMs(10),
    hoursInMs(14),
    hoursInMs(20),
    hoursInMs(24),
  ],
  /** Each wait is longer by up to this part of it, so that what failed together does not come back together. */
  retry_jitter: 0.2,
  retry_after_ms_max: hoursInMs(24),
  /** Whatever became of its attempts, a message is given up at this age. */
  message_ms_max: hoursInMs(96),
  /** A receiver that failed so often in a row is left alone for a while, which doubles with each further failure. */
  failures_until_rest: 5,
  rest_ms_min: 30_000,
  rest_ms_max: hoursInMs(1),
  /** After so many, which is four days of them, it is for longer. */
  failures_until_long_rest: 100,
  long_rest_ms: hoursInMs(24),
  /** For so long one book's messages are sent in one go, while other books may wait. */
  turn_ms_max: 5_000,
} as const;

/** Of delegated sessions. */
export const sessionLimits = {
  /** Of the X-SVC-Delegation header: as long as a payment's, whose signature may be a contract wallet's (ERC-6492), too. */
  delegation_header_chars_max: ki(16),
  /** A session and all that stand over it: each is locked with every call that is paid for under it. */
  depth_max: 8,
  /** Children of one session that are neither expired nor revoked: each may be bound by a payment of 0.002 USDC. */
  children_max: 1_000,
  names_max: 32,
  door_chars_max: 64,
  /** The largest cap of a session: what a column of Postgres holds, 9 million millions of USDC. */
  cap_atomic_max: 9_223_372_036_854_775_807n,
  /** Of a time in a grant, in Unix seconds. */
  time_seconds_max: 2 ** 48,
  life_seconds_max: daysInSeconds(366),
  /** Before its end a session serves no new payment: what it buys is recorded while the session lasts. */
  last_call_seconds: 30,
  /** Of an act with a nonce of its own: now < deadline <= now + this. */
  act_seconds_max: 300,
  act_resource_chars_max: 128,
  challenge_seconds_min: 120,
  challenge_seconds_max: 300,
  /** Of a nonce that is 32 bytes, its two times and a mark. */
  challenge_id_chars_max: 128,
  /** Acts of one session whose nonces are remembered, which is for as long as they would pass. */
  acts_taken_max: 10_000,
  /** Agents that one receipt can be handed off to: each hand-off is a receipt that nobody pays for. */
  hand_offs_per_receipt_max: 8,
  /** Hand-offs of one session in one UTC hour. */
  hand_offs_per_session_hour_max: 60,
  /** Counts of hours that are over are deleted after so long. */
  uses_kept_hours: 2,
  /** A revocation is signed now, give or take the clocks. */
  revocation_age_seconds_max: 300,
  revocation_ahead_seconds_max: 30,
  /** Grants that one wallet may revoke before a payment has bound them: each is published for good. */
  unbound_revocations_per_payer_max: 100,
  /** Of revocations that are listed at once. */
  page_revocations_max: 1_000,
  act_rows_max: 200,
  act_rows_default: 50,
  /** A session that no recorded payment has bound is forgotten after so long, once none holds it. */
  unbound_kept_seconds: 3_600,
  unbound_forgotten_at_once_max: 500,
  /** Of a tree that is shown at once. */
  tree_sessions_max: 1_000,
  tree_sessions_default: 200,
  /** Of the sessions that a wallet has granted itself. */
  listed_sessions_max: 200,
  listed_sessions_default: 50,
} as const;

/** Of router books and of what is broadcast to them. */
export const routerLimits = {
  label_chars_max: 120,
  generation_id_chars_max: 128,
  rail_chars_max: 32,
  payment_ref_chars_max: 256,
  /** Nobody pays for a book: as many of one address on a UTC day. */
  books_per_address_day_max: 20,
  /** Each broadcast is a leaf for ever: of those that no look-up has found, on a UTC day. */
  unverified_per_book_day_max: 100,
  unverified_per_address_day_max: 100,
  verified_per_book_day_max: 10_000,
  /** Look-ups under one key that found nothing or something else: the router is not to be asked for ever. */
  failed_look_ups_per_key_hour_max: 60,
  look_ups_at_once_max: 8,
  look_ups_per_key_at_once_max: 2,
  look_up_waiting_per_key_max: 8,
  look_up_wait_ms_max: 5_000,
  look_up_connect_ms_max: 3_000,
  look_up_ms_max: 3_000,
  look_up_bytes_max: ki(64),
  /** Counts are kept for so long after the time that they are of began. */
  uses_kept_hours: 48,
  /** Of a summary: the rails with the most verified generations. */
  summary_rails_max: 32,
} as const;

/** Of what is written on the board. */
export const boardLimits = {
  post_text_chars_max: 1_000,
  comment_chars_max: 500,
  endpoint_chars_max: 2_048,
  /** A day: whoever waited longer did not wait. */
  latency_ms_max: 86_400_000,
  page_posts_default: 50,
  page_posts_max: 100,
  page_comments_default: 50,
  page_comments_max: 200,
  flag_reason_chars_max: 280,
  /** Of one thing that is flagged, to the operators. */
  flag_reasons_shown_max: 5,
  page_flags_default: 50,
  page_flags_max: 200,
  host_chars_max: 255,
} as const;

/** Of how much of the board is read at once. */
export const boardReadLimits = {
  search_chars_max: 200,
  search_hits_default: 20,
  search_hits_max: 50,
  search_cursor_chars_max: 200,
  /** Of each kind so many are read one by one, before all that match are sought by their index. */
  search_newest_first: 500,
  /** Then the search is given up. */
  search_ms_max: 500,
  /** In one process: each holds a connection to the database for as long as it takes. */
  searches_at_once_max: 4,
  search_wait_ms_max: 2_000,
  searches_waiting_per_asker_max: 8,
  /** Of two words, how much of their trigrams they have in common; pg_trgm's own is 0.6, which no swapped letters reach. */
  search_similarity_min: 0.4,
  feed_entries: 50,
} as const;

/** Of what is done on the board without a payment. */
export const reactionLimits = {
  /** A like and its withdrawal are one each. */
  likes_per_agent_hour_max: 240,
  confirms_per_agent_hour_max: 60,
  /** So many tell of a post as one: whoever follows the board is told at most this often that it was liked. */
  likes_told_seconds_min: 60,
  completions_per_hour_max: 2_000,
  source_chars_max: 64,
  external_id_chars_max: 128,
  /** Counts of hours that are over. */
  uses_kept_hours: 2,
} as const;

/** Scores of endpoints. */
export const scoreLimits = {
  /** The highest score, in basis points. */
  score_bp_max: 10_000,
  /** Of a host's posts that can weigh, and as many of the newest of all. */
  rows_max: 200,
  /** Of one payer, so that nobody fills the places of all others. */
  rows_per_payer_max: 20,
  /** The heaviest of a host that can weigh, among which those are chosen. */
  candidates_max: 1_000,
  /** Of a host's newest reports, to say what was reported. */
  reports_counted_max: 10_000,
  /** Before a payer's first post, as it is first looked at: about five and a half hours of Base. */
  funding_blocks_max: 10_000,
  page_blocks_max: 2_000,
  /** Of payers taken up at once. */
  events_per_round_max: 500,
  /** Then its funding is unknown for good. */
  tries_max: 8,
  retry_seconds_min: 5,
} as const;

/** Of jobs on the board. Each job and each bid is paid for by a stamp. */
export const jobLimits = {
  text_chars_max: 1_000,
  acceptance_test_chars_max: 1_000,
  budget_atomic_max: /* @__PURE__ */ atomicAmount(25_000_000n),
  deadline_seconds_max: daysInSeconds(30),
  /** After the deadline: a delivery of the last minute is still paid for. */
  pay_within_seconds: daysInSeconds(7),
  /** At least, from when the chain was found not to have its first payment. */
  pay_again_within_seconds: daysInSeconds(1),
  /** A bid and its one revision. */
  bids_per_agent_max: 2,
  /** Of one job; those who race for the last place are let in. */
  bidders_max: 200,
  pitch_chars_max: 280,
  eta_chars_max: 64,
  preview_chars_max: 1_000,
  /** Of a job: the winner may deliver once more after the first, and no more. */
  deliveries_refused_max: 2,
  /** Of a job: hashes in whose place the winner has delivered another. */
  deliveries_replaced_max: 8,
  reason_chars_max: 280,
  output_bytes_max: ki(1_024),
  /** As JSON: in base64 it is a third longer, and in a text line breaks and quotes take two bytes. */
  reveal_request_bytes_max: ki(2_064),
  output_kept_seconds: daysInSeconds(30),
  outputs_forgotten_per_round_max: 200,
  payout_signature_seconds_max: 300,
  payout_signature_chars_max: 128,
  page_default: 20,
  page_max: 50,
  /** Of one job, oldest first: as many as there may be, but for those who raced. */
  bids_shown_max: 400,
  expired_per_round_max: 200,
} as const;

/** Of what is paid for in two. */
export const legLimits = {
  /** The payee of the first could use it alone: as long as it may be valid no other one takes its place. */
  validity_seconds_max: 120,
  /** By so much less its offer asks for: a client's clock may be ahead of ours. */
  validity_slack_seconds: 30,
  /** When whoever met a payment under way may ask again. */
  retry_seconds: 5,
} as const;

/** Of clients of MCP. */
export const mcpLimits = {
  /** Messages of one address that bring a file, which wait unread while one is read. */
  file_line_max: 8,
  /** Between two reports of the progress of a call, to a client that asks for them. */
  progress_every_ms: 2_000,
  /** From here on answers are read one after the other: many may be underway. */
  short_answer_bytes_max: ki(1_024),
  /** Longer than any call takes: its hubs, its settlement and what it waits for. */
  answer_ms_max: 300_000,
  /** Messages of one client that are forwarded at once. */
  underway_max: 64,
} as const;

/** Messages of A2A, and tasks that are followed over A2A. */
export const a2aLimits = {
  message_id_chars_max: 256,
  message_parts_max: 256,
  message_references_max: 256,
  task_id_chars_max: 128,
  /** Tasks that one address follows at the same time, in one process. */
  followed_per_address_max: 64,
} as const;

/** Of a request that waits for its payment inside its own id: a larger one pays with its first message. */
export const offeredLimits = { request_bytes_max: ki(32), request_seconds_max: 3_600 } as const;
