import { atomicAmount } from './amount.ts';

/*
 * The specification's limits, and those it leaves open: one table per subject, with the unit last in each name. A bundler for browsers
 * can drop unused tables only if they are built without side effects.
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

/** Largest value of GraphQL's Int and of a Postgres integer. Bounds counts, positions and seconds. */
export const INT_MAX = 2 ** 31 - 1;

/** Limits without a more specific table below. */
export const limits = {
  call_price_atomic: atomicAmount(2000n),
  stamp_price_atomic: atomicAmount(2000n),
  /** Fee in basis points on the legacy rail labels. Always 0: payments are in USDC whatever the label, and nothing is deducted. */
  tfuel_fee_bps: 0,
  /** Amount in atomic USDC from which GET /prove-result includes the settlement even if the request does not ask for it. */
  settlement_proof_gate_atomic: atomicAmount(1_000_000n),
  book_page_rows_default: 50,
  book_page_rows_max: 200,
  /** Length of an id that this service assigns. */
  id_chars_max: 64,
  /** Length of an id or reference in a filter on rows. */
  row_name_chars_max: 512,
  /** Rows read to count the matches of a filter for which no sum is stored. Reading this many takes the database 15 ms. */
  matching_rows_read_max: 10_000,
  /** Groups per dimension in the totals of a book. */
  totals_groups_max: 1_000,
  /** Books whose sessions a caller is assumed to send, when the cost of a query is estimated. Most callers send one. */
  viewer_books_assumed: 4,
  written_statements_prepared_max: 64,
  allowance_ms_max: 1_000,
  allowances_kept_max: 1_000,
  /** Replay events per row and hour, since each is an event of its own. Further replays are only counted. */
  replay_events_per_hour_max: 20,
  /** Blocked rows per policy version, policy code, intent and hour, since each holds a signed refusal. Further calls get 429. */
  blocked_rows_per_hour_max: 20,
  /** Blocked rows per book and hour over all policies and intents. Further blocked calls are reported as events without a row. */
  blocked_rows_per_book_hour_max: 200,
  /** Interval after which counted occurrences become one event of their row and kind. */
  counted_seconds: 60,
  counted_per_transaction_max: 200,
  wallet_signature_age_seconds_max: 300,
  wallet_signature_ahead_seconds_max: 30,
  /** Length of a wallet signature. Contract wallets have long ones (WebAuthn, ERC-6492 with the factory's call), as in payments. */
  wallet_signature_chars_max: 2 + 2 * 6_000,
  /** Members of a registration. Longer than valid values, because an invalid address or proof has an error code of its own. */
  registered_wallet_chars_max: 128,
  registration_proof_chars_max: 128,
  /** Length of a wallet in a path. */
  path_wallet_chars_max: 64,
  /** Length of the level and of the index of a log tile in its path. */
  tile_level_chars_max: 2,
  tile_path_chars_max: 32,
  /** Books with lost events that are named in one message, in ascending order of their ids. */
  broken_books_named_max: 20,
  /** Sessions in one request or socket, since one read looks up all of them. */
  sessions_per_caller_max: 64,
  book_proof_window_seconds: 300,
  book_proof_nonce_chars_min: 16,
  book_proof_nonce_chars_max: 64,
  /** Proofs of one agent within ten minutes (plain ones for writes, bound ones for any request), since each is stored that long. */
  book_proofs_taken_max: 10_000,
  /**
   * Time for which a single-use value is remembered after it expires, because the clock of another process or the database may be behind.
   */
  clocks_apart_seconds_max: 60,
  temperature_max: 2,
  penalty_max: 2,
  model_id_chars_max: 200,
  /** `created` of every listed model, in Unix seconds. No hub reports it, and a value that changed with each start would be wrong. */
  models_created_seconds: 1_767_225_600,
  usdc_decimals: 6,
  intent_id_chars_max: 128,
  /** Length of a client's payment id, within the bounds of the x402 extension payment-identifier. */
  payment_identifier_chars_min: 16,
  payment_identifier_chars_max: 128,
  /** Calls in flight per API key in one process, since each costs a hub's answer that no payment covers. */
  key_calls_underway_max: 64,
  idempotency_key_chars_max: 255,
  /** Idempotency keys per API key while answers are retained, since each keeps a stored answer. */
  idempotency_keys_max: 10_000,
  idempotent_answers_bytes_max: 1024 * 1024 * 1024,
  /** The same limits for writes without a payment, per credential. */
  written_once_max: 1_000,
  written_once_bytes_max: 16 * 1024 * 1024,
  written_once_answer_bytes_max: 256 * 1024,
  written_once_underway_seconds_max: 60,
  request_bytes_max: 1024 * 1024,
  /** Size of a body that orders no work: a policy, a registration, a proof. */
  small_request_bytes_max: 16 * 1024,
  /** Nesting and member count of any JSON that is read. */
  json_depth_max: 64,
  json_members_max: 50_000,
  chat_messages_max: 5_000,
  content_parts_max: 1_000,
  /** OpenAI's own limit. */
  tools_max: 128,
  tool_calls_max: 128,
  /** Limits on a hub's `reasoning_details`. Entries beyond them are left out of the answer. */
  reasoning_details_max: 1_000,
  reasoning_details_depth_max: 16,
  reasoning_details_members_max: 10_000,
  /** Limits on a hub's usage counters besides the input and output tokens: entries per object, and levels of nesting. */
  usage_details_max: 32,
  usage_details_depth_max: 3,
  tool_name_chars_max: 128,
  tool_call_id_chars_max: 256,
  cache_scope_chars_max: 64,
  tool_description_chars_max: 64 * 1024,
  /** Limits on one JSON schema, whether of a tool's arguments or of an answer. */
  tool_schema_depth_max: 48,
  tool_schema_members_max: 10_000,
  /** Anthropic beta names in one request, and their length. */
  betas_max: 32,
  betas_chars_max: 1_024,
  /** Limits on a member that is forwarded to hubs without being known here. */
  forwarded_depth_max: 32,
  forwarded_name_chars_max: 128,
  /** Forwarded members in one object. */
  forwarded_members_max: 1_000,
  stop_texts_max: 4,
  stop_text_chars_max: 500,
  image_prompt_chars_max: 32_000,
  image_side_pixels_min: 64,
  image_side_pixels_max: 2_048,
  image_url_chars_max: 2_048,
  /** Length of the media subtype (the part after the slash) of a file in a data: URL. */
  media_subtype_chars_max: 100,
  audio_part_format_chars_max: 16,
  /** OpenAI's own limit. */
  embedding_inputs_max: 2_048,
  /** Tokens in one input text. More than any listed model accepts. */
  embedding_tokens_max: 32_768,
  embedding_dimensions_max: 16_384,
  transcription_prompt_chars_max: 4_000,
  transcription_segments_max: 20_000,
  upload_file_bytes_max: 25 * 1024 * 1024,
  /** Size of the whole upload form, with its boundaries and all other fields. */
  upload_form_bytes_max: (25 * 1024 + 256) * 1024,
  upload_fields_max: 32,
  upload_field_bytes_max: 16 * 1024,
  /** Size of all uploads in flight. While a hub processes one, it is in memory twice. */
  uploads_bytes_max: 256 * 1024 * 1024,
  /** Shares of that total for one payer and for one address. The address has more, because many agents may share one. */
  uploads_payer_bytes_max: 64 * 1024 * 1024,
  uploads_address_bytes_max: 128 * 1024 * 1024,
  /** Time an uploaded file is retained before the operation that uses it arrives. */
  upload_unasked_ms_max: 60_000,
  /** Bytes of a refused request's body that are read and discarded to keep the connection open. A longer body closes it. */
  unread_body_drained_bytes_max: 64 * 1024,
  linger_ms_max: 1_000,
  /** Smallest answer that is compressed. Below it compression costs more than it saves. */
  compressed_answer_bytes_min: 1_024,
  path_parameter_chars_max: 200,
  answer_bytes_max: 4 * 1024 * 1024,
  /** Size of an image answer: the largest image as a base64 PNG. Must stay below `subgraph_answer_bytes_max`, which encloses it. */
  image_answer_bytes_max: 12 * 1024 * 1024,
  /**
   * Length of an answer's vectors: about 900,000 numbers, or 1,500 vectors of 1,536 numbers in base64, which take a third of a second to
   * process. Must stay below `subgraph_answer_bytes_max`, which encloses it.
   */
  embedding_answer_chars_max: 12 * 1024 * 1024,
  /** Size of the same answer as hubs send it. OpenAI indents its JSON, which doubles the size at most. */
  embedding_hub_answer_bytes_max: 24 * 1024 * 1024,
  answer_kept_hours: 24,
  /** Times the work of one payment is done again because the hub broke off its answer. */
  reruns_max: 3,
  /** Time after `validBefore` when a claim is deleted whose payment never moved according to the chain. */
  claim_forgotten_after_seconds: 3_600,
  claims_forgotten_per_transaction_max: 500,
  /** Difference of our clock from the database's or the chain's beyond which the instance reports that it is not ready for paid calls. */
  clock_off_ms_max: 30_000,
  hub_timeout_ms: 60_000,
  /** Time for all hubs that one call tries. The call's claim must outlast it. */
  hubs_timeout_ms: 120_000,
  /** Time from the request to the last chunk of a stream. The call's claim must outlast it and what follows. */
  hub_stream_ms_max: 120_000,
  /** Length of one event of a hub's stream. A hub may send its whole answer in one event. */
  hub_event_chars_max: 1024 * 1024,
  /** Bytes of a hub's stream that are buffered while its payment settles. Reading pauses at this size until the payment has settled. */
  stream_buffer_bytes_max: 256 * 1024,
  /** Time for streams in flight to finish during a clean stop. Afterwards their hub connections are closed. */
  stream_stop_ms_max: 20_000,
  /** Time for a whole clean stop. Less than the 90 s after which a service manager kills; reconcile finishes what is left. */
  stop_ms: 80_000,
  /** Part of that time in production during which a load balancer can notice that the instance no longer accepts paid calls. */
  drain_ms: 5_000,
  stop_ms_max: 600_000,
  /** Time for nearly finished work during a hurried stop. */
  stop_hurried_ms: 2_000,
  /** Time within which two signals count as one key press: the terminal signals every process, and npm forwards it once more. */
  signal_echo_ms: 1_000,
  /**
   * Bytes read of a hub's error answer, length of its message that is forwarded, and length from which parts of a hub's address and its key
   * are removed from that message.
   */
  hub_error_bytes_max: 64 * 1024,
  hub_message_chars_max: 500,
  hub_secret_chars_min: 8,
  hub_connections_max: 128,
  /** Callers that wait for a connection to one hub. Further callers go to the next hub at once. */
  hub_waiting_max: 1_024,
  hub_connect_ms_max: 5_000,
  /** Silence after which a hub's stream counts as broken. */
  hub_stream_idle_ms_max: 30_000,
  /** Time for which a hub with an open circuit is tried last, not never, since others may be down too. Doubles with each failed probe. */
  hub_rest_ms: 10_000,
  hub_rest_ms_max: 300_000,
  /** Time after which a failure counts half. */
  hub_failing_half_life_ms: 30_000,
  /** Assumed cost, as latency, of trying a hub that always fails. */
  hub_failure_costs_ms: 10_000,
  /** Advantage in latency that a hub must have, besides half of the leading hub's, to replace it as the first one tried. */
  hub_lead_ms_min: 100,
  /** Share of calls that try a hub first that had no call for the interval below. Each such hub gets one call per interval. */
  hub_trial_share: 1 / 16,
  hub_trial_every_ms: 60_000,
  router_key_chars_max: 512,
  /** Models listed from the router's list. */
  router_models_max: 500,
  router_models_bytes_max: 4 * 1024 * 1024,
  router_models_fetch_ms_max: 10_000,
  /** Time a request waits for the first fetch of the list. */
  router_models_wait_ms_max: 2_000,
  router_models_fresh_ms: 300_000,
  router_models_retry_ms: 15_000,
  /** Failed calls per payment that were the fault of the request or the router key. After that the payment is refused. */
  payment_failures_max: 5,
  /** Requests from one address with a payment made for another request, before the client must prove to be the payer. */
  payment_mismatches_per_address_max: 5,
  /** The same limit over all addresses except the one that paid. */
  payment_mismatches_max: 50,
  payment_header_bytes_max: 16 * 1024,
  /** Length of each name in a payment: scheme, network, asset, payee. */
  payment_name_chars_max: 100,
  /** Size of an answer's headers with its status line. Stock proxies (nginx, 4 kB) replace a larger one with a 502. */
  answer_headers_bytes_max: 3_072,
  /** The same limit for a 402, whose PAYMENT-REQUIRED holds the offers of all networks, and the size of its other headers. */
  challenge_headers_bytes_max: 3_584,
  challenge_beside_bytes_max: 960,
  /** Length of the payment error inside PAYMENT-REQUIRED. */
  challenge_error_chars_max: 80,
  /** Size of a model or hub name in a header. Longer names are only in the body. */
  named_header_bytes_max: 96,
  /** Recent payment headers of ordinary length whose decoded payments are cached. */
  payment_headers_remembered_max: 1_000,
  payment_header_remembered_bytes_max: 4 * 1024,
  /** Size of a request's headers. Two payments of the largest size fit, one under each version's header name. */
  request_headers_bytes_max: 64 * 1024,
  request_headers_ms_max: 15_000,
  /** Time within which the whole request must arrive. The time to answer it is not included. */
  request_ms_max: 30_000,
  request_checked_every_ms: 5_000,
  payment_timeout_seconds_max: 300,
  /** Validity below which an authorization may expire before our transaction is mined. */
  payment_validity_seconds_min: 6,
  /** The same limit with time for work before the settlement. */
  payment_validity_with_work_seconds_min: 10,
  /** Remaining validity by the chain's time. The known head may be one block (2 s) old, and the next block takes what is sent now. */
  payment_settle_seconds_min: 4,
  /** Validity above which a payment that never moved would have to be watched too long. */
  payment_validity_seconds_max: 31 * 24 * 3600,
  /** Time after `validBefore` by which a payment vouched for by a facilitator must be seen on the chain, or it no longer counts. */
  arrival_cutoff_seconds: 3_600,
  /** Base blocks, with its own, after which a payment to another payee counts as proven (20 s). It is checked again once final. */
  foreign_confirmations_min: 10,
  /** The same limit for a development chain, which mines no block without a transaction. */
  foreign_confirmations_development_min: 1,
  /**
   * Final Base blocks without the transaction, after the block it was seen in, before it counts as vanished (ten minutes, in which it may
   * be mined again).
   */
  foreign_vanished_blocks_min: 300,
  /** The same limit in Solana slots. By then its blockhash, valid for 150 blocks, has expired twice over. */
  foreign_vanished_slots_min: 600,
  /** Approximate time Solana accepts a transaction after its blockhash: 150 blocks of 0.4 s. The block height decides. */
  solana_blockhash_seconds: 60,
  /**
   * Compute units and price per unit that a payer's transaction may charge to our fee payer. x402's client asks for 20,000 units at 1
   * microlamport. Both limits together are 300 lamports, besides the 10,000 for two signatures.
   */
  solana_compute_units_max: 60_000,
  solana_priority_fee_microlamports_max: 5_000,
  group_commit_items_max: 64,
  /** Newest log leaves that are recomputed before the service listens, which takes half a second. Older ones follow while it serves. */
  log_audit_leaves_max_at_start: 20_000,
  /** Newest receipts whose books are audited before the service listens. Other books follow while it serves. */
  book_audit_receipts_max_at_start: 200,
  settlement_batch_authorisations_max: 100,
  /** Default size of a process's Postgres connection pool for calls. */
  database_connections_max_default: 16,
  /** Default gas fee for one authorization of a batch, in atomic USDC: twice the price of a call. */
  settle_fee_atomic_default: atomicAmount(4_000n),
  /** Default total of settlement fees per UTC day: 100 USDC, the price of 50,000 calls. */
  settle_fee_day_atomic_default: atomicAmount(100_000_000n),
  /** Gas for one contract wallet's payment, with its deployment and signature check. Bounds the loss if it reverts. */
  wallet_gas_max: 500_000,
  /** Time for which a contract wallet's payments are refused after one reverted on the chain although its simulation passed. */
  wallet_reverted_rest_seconds: 600,
  /** Time for which the code found at a payer's address is cached: less than two blocks. */
  payer_look_ms: 2_000,
  /** Payer addresses looked up at the same time, for payments that no key of the address has signed. */
  payer_looks_underway_max: 1_000,
  /** Contract wallets whose signatures are checked at the same time. Wallets that paid within a day are counted separately. */
  unproven_turns_at_once_max: 4,
  unproven_turn_wait_ms_max: 5_000,
  unproven_waiting_per_address_max: 32,
  /** Signature checks of one address for payers that have not paid yet. */
  unproven_questions_max: 200,
  unproven_questions_seconds: 10,
  /** Forged payments per address and second that are refused at once. Beyond that each 402 is delayed by a second. */
  forged_per_address_second_max: 100,
  contract_payer_known_seconds: 24 * 3_600,
  /**
   * First pause of a payer whose key-signed payment passed every check but reverted on the chain. Doubles each time, up to
   * `wallet_reverted_rest_seconds`.
   */
  payer_reverted_rest_seconds: 2,
  graphql_tokens_max: 2_000,
  /** Parsed documents that are cached, and the length of one. Longer ones are parsed each time. */
  graphql_documents_kept_max: 1_000,
  graphql_document_kept_chars_max: 16 * 1024,
  /** Total length of cached documents. A parsed document and its plan take about fifty times the memory of its text. */
  graphql_documents_kept_chars_max: 1024 * 1024,
  graphql_operations_max: 10,
  graphql_fragments_max: 50,
  /** Nested selection sets. The official tools' introspection query has 18 levels, our deepest type 4. */
  graphql_depth_max: 20,
  graphql_root_fields_max: 10,
  graphql_aliases_max: 100,
  graphql_directives_max: 50,
  /** Fields of a document. A fragment counts wherever it is spread. */
  graphql_fields_max: 300,
  /** Fields with the same response name. GraphQL compares each with every other. */
  graphql_repeated_fields_max: 30,
  /** Fields that one execution completes. A page of 200 rows with all members has 21,900, official introspection 21,400. */
  graphql_cost_max: 25_000,
  /** Cost of a root field, which reads the database at least once. */
  graphql_root_field_cost: 100,
  /** Size of one answer or event as JSON, measured before it is written. Equals the limit on a remote subgraph's answer. */
  graphql_answer_bytes_max: 16 * 1024 * 1024,
  /** Validation errors reported per document. */
  graphql_faults_max: 5,
  /** Length of an error message. GraphQL quotes the input in its messages, whatever its length. */
  graphql_fault_chars_max: 500,
  /** Nesting of variables. Forwarded members are this deep, below the input, its messages, one message and its `extra`. */
  graphql_variables_depth_max: 40,
  graphql_variables_values_max: 20_000,
  /** Length of one text in the variables, except where a paid field accepts a longer one. */
  graphql_variables_chars_max: 16 * 1024,
  /** Difference between the time of a gateway's signed call and the subgraph's clock. */
  subgraph_call_age_seconds_max: 30,
  /** Nonces of calls that a subgraph remembers to refuse replays. When full, every call is refused until older nonces expire. */
  subgraph_calls_remembered_max: 500_000,
  /** Size of a planned query with its variables, which hold a whole request. */
  subgraph_request_bytes_max: 4 * 1024 * 1024,
  subgraph_answer_bytes_max: 16 * 1024 * 1024,
  /** Length of one event. The last event of a streamed response repeats the whole response. */
  subgraph_event_chars_max: 16 * 1024 * 1024,
  socket_message_bytes_max: 64 * 1024,
  socket_subscriptions_max: 50,
  /**
   * Live events buffered for a slow reader. Beyond it the socket is closed with a code to reconnect, or terminated if the client does not
   * react.
   */
  socket_buffered_bytes_max: 512 * 1024,
  socket_slow_ms_max: 10_000,
  socket_init_ms_max: 3_000,
  /** Frames of any kind from one socket: burst, and rate per second. */
  socket_frames_burst_max: 1_500,
  socket_frames_per_second_max: 100,
  /** Frames of one message. Its bytes are limited, but an empty frame has none. */
  socket_message_fragments_max: 128,
  /** Connections, with sockets. Each open one takes a file descriptor and, with TLS, about 30 KiB. */
  connections_max: 10_000,
  /** Connections per address. High enough for the thousands of clients behind a proxy, low enough that one address does not take all. */
  connections_per_address_max: 5_000,
  /** Callers tracked by each rate limit of a process: about 20 MB if all are full. */
  rate_callers_max: 100_000,
  /** Silence after which a connection is closed. Longer than any answer is silent; a client that reads nothing for this long is dropped. */
  connection_silent_ms_max: 300_000,
  /** Time between an answer and the next request. Longer than proxies retain a connection for reuse. */
  connection_idle_ms_max: 72_000,
  /** Requests sent over one connection before the first is answered. */
  requests_per_connection_underway_max: 64,
  feed_page_events_max: 200,
} as const;

/** Newest replays of a row, and newest attempts at an intent, that are returned. */
export const rowLimits = { replays_shown_max: 200, attempts_shown_max: 200 } as const;

/** Policies of a book, and their simulation. */
export const policyLimits = {
  /** Models in a model_allowlist. */
  allowed_models_max: 100,
  /** Total size of its ids, since every call locks and reads them and every policy change stores them again. */
  allowed_models_bytes_max: ki(8),
  /** Changes per book to its policies, budget and alerts, since each is a permanent event that no payment covers. */
  changes_per_book_hour_max: 200,
  /** Lifetime of an approval if the book sets none. */
  approval_ttl_seconds: 300,
  approval_ttl_seconds_max: daysInSeconds(1),
  /** Rows that one page of a simulation evaluates, and rows per read. */
  simulated_rows_max: 10_000,
  simulated_rows_at_once: 200,
  /** Simulations in one process. */
  simulations_at_once_max: 2,
  simulation_wait_ms_max: 5_000,
  simulations_waiting_per_book_max: 4,
  simulation_cursor_chars_max: 4_096,
} as const;

/** Alerts of a book. */
export const alertLimits = {
  thresholds_max: 10,
  threshold_percent_max: 100,
  burn_factor_min: 2,
  burn_factor_max: 1_000,
  /** Hours by which an alert can announce the end of the budget in advance. */
  budget_end_ahead_hours_max: 720,
  /** Newest alerts, and newest changes, that are returned. */
  alerts_shown_max: 20,
  changes_shown_max: 20,
  /** Smallest hourly spend for which a rate is reported: ten calls. Less allows no projection. */
  rate_atomic_min: /* @__PURE__ */ atomicAmount(20_000n),
  /** Days before the current one over which a book's usual spend is computed, and days with spend that this requires. */
  habit_days_max: 14,
  habit_days_min: 3,
  /** Longest projection of the end of a budget. Beyond it no end is reported. */
  budget_end_hours_max: 8_760,
} as const;

/** Approvals by people. */
export const approvalLimits = {
  /** Open approvals per book. Further refused calls create none. */
  open_per_book_max: 20,
  token_chars_max: 64,
  /** Length of the request's text that is displayed, and of the caller's note. */
  request_text_characters_max: 2_000,
  note_characters_max: 280,
  shown_max: 200,
  /** Days for which a request is listed after it expired. */
  kept_days: 30,
  forgotten_at_once_max: 500,
} as const;

/** Lists for a buyer, identified by its wallet or its key. */
export const buyerLimits = {
  receipts_page_default: 25,
  receipts_page_max: 50,
  tasks_page_default: 50,
  tasks_page_max: 100,
  /** Newest tasks of a buyer that are listed. Older ones are in no list. */
  listed_tasks_max: 1_000,
} as const;

/** Exports of a book. */
export const exportLimits = {
  rows_max: 200,
  /** Rows per page of a stream of the whole book: one statement and one chunk of the answer. */
  page_rows: 1_000,
  /** Positions that one statement counts before the first chunk of a filtered stream. */
  counted_seqs: 50_000,
  /** Streams in one process. Each keeps a database CPU busy until its reader has received everything. */
  streams_max: 8,
  streams_per_book_max: 2,
  /** Pages that all streams of a process read at the same time, in turns. A stream reads one page ahead of its reader. */
  pages_read_at_once_max: 4,
  page_wait_ms_max: 10_000,
  parquet_group_pages: 4,
  /** Length of an account name in a journal. */
  account_chars_max: 100,
  /** Time for a scan of all rows of a book. After it the export is marked as incomplete. */
  pull_scan_ms_max: 5_000,
  pulls_built_at_once_max: 2,
  pull_wait_ms_max: 10_000,
  pull_waiting_per_book_max: 2,
} as const;

/** Lineage of a row. A page of descendants is a page of rows. */
export const lineageLimits = {
  /** Steps followed up and down. */
  steps_max: 1_000,
  /** Descendants of one row, first in the order of the book. Their own descendants can be requested separately. */
  descendants_max: 10_000,
  /** Reads in one process. The widest lineage takes the database about a second. */
  reads_at_once_max: 4,
  read_wait_ms_max: 5_000,
  reads_waiting_per_book_max: 16,
} as const;

/** Assignments and the slices they open. */
export const sliceLimits = {
  /** Live assignments per book, each with a token in use. */
  live_per_book_max: 50,
  /** Newest ended assignments that are stored and listed. */
  over_kept_max: 50,
  grantee_chars_max: 200,
  task_ids_max: 100,
  task_chars_max: 128,
  rows_max: 200,
} as const;

/** Recorded payments to other services. */
export const ingestLimits = {
  /** Size of a request. It may contain the whole delivery, which is hashed and not stored. */
  request_bytes_max: ki(256),
  /** Length of a settlement header as sent by another service. */
  payment_response_chars_max: ki(16),
  /** Length of one signed artifact of the merchant. */
  jws_chars_max: ki(8),
  description_chars_max: 500,
  resource_chars_max: 2_048,
  hub_chars_max: 128,
  model_chars_max: 512,
  omission_rule_chars_max: 128,
  /** Length as text, such as `sha256:` and the hex digits. */
  commitment_chars_max: 80,
  payer_signature_seconds_max: 300,
  /** Payments checked again in one round. */
  rechecked_per_round_max: 100,
  corrected_per_round_max: 100,
} as const;

/** Names by which a request identifies a payment to another service. */
export const foreignNameLimits = {
  /** Length of a wallet or token address. */
  address_chars_max: 128,
  /** Length of a transaction id, with or without its network prefix. */
  transaction_chars_max: 160,
  network_chars_max: 64,
  block_chars_max: 64,
} as const;

/** Reconciliations. */
export const reconciliationLimits = {
  /** Blocks of one reconciliation: about 28 hours of Base. */
  blocks_max: 50_000,
  /** Blocks per request to a node. Halved if the node refuses. */
  page_blocks_max: 2_000,
  /** Transfers per page. A larger page is requested in halves, which bounds one database transaction. */
  page_transfers_max: 2_000,
  /** Pages per turn of the queue, so that no reconciliation delays another. */
  pages_per_turn_max: 4,
  /** Transfers listed in a document. Further ones are only in its sums. */
  listed_transfers_max: 2_000,
  /** Reconciliations per agent and day, since no payment covers them. */
  per_agent_day_max: 24,
  /** Newest reconciliations stored per agent. Older ones are deleted. */
  kept_per_agent_max: 50,
  /** Time without a new page after which a reconciliation fails, with the name of what it waited for. */
  waits_seconds_max: 600,
  /** Time before a source that did not answer is queried again. */
  rest_ms: 1_000,
  /** Time without progress after which a reconciliation counts as ended, because its job is gone. */
  abandoned_seconds: 7_200,
  /** Newest paid receipts that are read to decide that a wallet pays for this agent's calls. */
  payer_receipts_looked_at_max: 1_000,
} as const;

/** Writes without a payment, on books (inflows, disputes, escrows) or the board (likes, confirms), together in one process. */
export const freeWriteLimits = {
  /** Database connections for these writes. With the four for jobs, half of the pool's sixteen is left to paid calls. */
  at_once_max: 4,
  wait_ms_max: 5_000,
  waiting_per_book_max: 64,
} as const;

/** Inflows and their corrections. */
export const inflowLimits = {
  /** Inflows and corrections per book and hour, since no payment covers them. */
  rows_per_book_hour_max: 200,
  /** Newest corrections in an inflow's row, and their total size. The newest is included whatever its size. */
  corrections_shown_max: 200,
  corrections_shown_bytes_max: ki(16),
  bucket_chars_max: 64,
  /** Length of the service's base URL that a wallet names. */
  service_chars_max: 512,
  hub_chars_max: 128,
  /** Length of an id chosen by the caller. */
  task_chars_max: 128,
  reason_chars_max: 500,
  /** Branches of a fork that a correction names. */
  merges_max: 16,
  /** Size of the object that a correction may contain. */
  correction_bytes_max: ki(4),
  correction_depth_max: 8,
  correction_members_max: 100,
} as const;

/** Disputes. */
export const disputeLimits = {
  evidence_bytes_max: ki(16),
  evidence_depth_max: 16,
  evidence_members_max: 1_000,
  /** Size of a filed dispute: its evidence and its other members. */
  request_bytes_max: ki(20),
  /** Disputes per row and kind of claim, each with other evidence, since no payment covers them. */
  per_claim_max: 10,
  /** Disputes filed per book and hour. */
  filed_per_book_hour_max: 60,
  /**
   * Time after the payment in which the winner of a challenged job may reveal its output. Part of rule 3: another value requires a new
   * rule.
   */
  reveal_awaited_seconds: daysInSeconds(7),
} as const;

/** Escrows. No payment covers them. */
export const escrowLimits = {
  /** Open escrows per book that opens them. Each of the two kinds has its own count. */
  live_per_book_max: 100,
  opens_per_book_hour_max: 60,
  /** Open escrows from one book to another. */
  live_per_pair_max: 10,
  opens_per_pair_hour_max: 20,
  /** Offers sent to the webhook of a counterparty that subscribed to them. */
  offers_sent_per_book_hour_max: 10,
  /** Lifetime if the request sets no end. */
  lasts_seconds_default: daysInSeconds(7),
  lasts_seconds_max: daysInSeconds(90),
  page_default: 20,
  page_max: 50,
  task_chars_max: 128,
  job_chars_max: 128,
  evidence_bytes_max: ki(4),
  evidence_depth_max: 8,
  evidence_members_max: 100,
  /** Phases of an escrow. The longest sequence is opened, funded, submitted, challenged, ended. */
  phases_max: 5,
  /** Checks per phase, when the cost of a query is estimated. Only a release has any, up to five. */
  checks_assumed: 1,
  /** Escrows that are read together and expired in one round. */
  expired_per_batch_max: 50,
  expired_per_round_max: 1_000,
} as const;

/** Limits of webhooks: URLs, secrets, deliveries, retries and dead letters. */
export const webhookLimits = {
  url_chars_max: 2_048,
  /** Length of a secret chosen by the caller. After the prefix `whsec_` decoded bytes are counted (Standard Webhooks 1.0.0). */
  secret_chars_min: 24,
  secret_chars_max: 256,
  secret_bytes_min: 24,
  secret_bytes_max: 64,
  /** Bytes of a generated secret. */
  secret_bytes: 32,
  /** Time for which an old secret signs besides the new one, and number of such secrets. */
  old_secret_ms: hoursInMs(24),
  old_secrets_max: 2,
  changes_per_hour_max: 20,
  pings_per_hour_max: 20,
  redeliveries_per_hour_max: 20,
  /** Positions that one redelivery may cover, and messages it may send. */
  redelivered_positions_max: 10_000,
  redelivered_messages_max: 1_000,
  /** Newest dead letters stored per book, and days for which they are stored. */
  dead_letters_max: 1_000,
  dead_letter_days: 30,
  dead_letters_page_max: 200,
  dead_letters_page_default: 50,
  /** Time for a delivery, from the name lookup to the end of the answer. */
  attempt_ms_max: 10_000,
  /** Time without an answer after which a delivery no longer occupies its lane. */
  prompt_ms_max: 1_000,
  /** Bytes read of an answer. */
  answer_bytes_max: 4_096,
  /** Wait before each attempt after the first. After the last attempt a message becomes a dead letter. */
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
  /** Fraction by which each wait is lengthened at random, so that messages that failed together are not sent again together. */
  retry_jitter: 0.2,
  retry_after_ms_max: hoursInMs(24),
  /** Age at which a message is no longer attempted, whatever the result of its attempts. */
  message_ms_max: hoursInMs(96),
  /** Consecutive failures after which a receiver is paused. The pause doubles with each further failure. */
  failures_until_rest: 5,
  rest_ms_min: 30_000,
  rest_ms_max: hoursInMs(1),
  /** Consecutive failures, reached after about four days, after which the long pause applies. */
  failures_until_long_rest: 100,
  long_rest_ms: hoursInMs(24),
  /** Time for which the messages of one book are sent before those of other books get a turn. */
  turn_ms_max: 5_000,
} as const;

/** Delegated sessions. */
export const sessionLimits = {
  /** Length of the X-SVC-Delegation header. Equals a payment header's, since a contract wallet (ERC-6492) may sign both. */
  delegation_header_chars_max: ki(16),
  /** Levels of sessions, since every paid call under a session locks it and all its ancestors. */
  depth_max: 8,
  /** Children of one session that are neither expired nor revoked, since each can be bound by a payment of 0.002 USDC. */
  children_max: 1_000,
  names_max: 32,
  door_chars_max: 64,
  /** Largest cap of a session in atomic USDC: the maximum of a Postgres bigint. */
  cap_atomic_max: 9_223_372_036_854_775_807n,
  /** Largest time in a grant, in Unix seconds. */
  time_seconds_max: 2 ** 48,
  life_seconds_max: daysInSeconds(366),
  /** Time before its end when a session stops serving new payments, so that they are recorded while it is valid. */
  last_call_seconds: 30,
  /** Lifetime of an act with its own nonce: now < deadline <= now + this. */
  act_seconds_max: 300,
  act_resource_chars_max: 128,
  challenge_seconds_min: 120,
  challenge_seconds_max: 300,
  /** Length of a challenge id: 32 bytes, two times and a MAC. */
  challenge_id_chars_max: 128,
  /** Nonces of acts that are remembered per session, until the acts expire. */
  acts_taken_max: 10_000,
  /** Agents to which one receipt can be handed off, since each hand-off is a receipt that no payment covers. */
  hand_offs_per_receipt_max: 8,
  /** Hand-offs of one session per UTC hour. */
  hand_offs_per_session_hour_max: 60,
  /** Hours after which past hourly counts are deleted. */
  uses_kept_hours: 2,
  /** Difference of a revocation's time from now, in either direction. */
  revocation_age_seconds_max: 300,
  revocation_ahead_seconds_max: 30,
  /** Grants that one wallet may revoke before a payment has bound them, since each is published permanently. */
  unbound_revocations_per_payer_max: 100,
  /** Revocations per page. */
  page_revocations_max: 1_000,
  act_rows_max: 200,
  act_rows_default: 50,
  /** Time after which a session that no recorded payment has bound is deleted, once no call holds it. */
  unbound_kept_seconds: 3_600,
  unbound_forgotten_at_once_max: 500,
  /** Sessions of a tree per answer. */
  tree_sessions_max: 1_000,
  tree_sessions_default: 200,
  /** Sessions granted directly by a wallet, per answer. */
  listed_sessions_max: 200,
  listed_sessions_default: 50,
} as const;

/** Router books and the generations broadcast to them. */
export const routerLimits = {
  label_chars_max: 120,
  generation_id_chars_max: 128,
  rail_chars_max: 32,
  payment_ref_chars_max: 256,
  /** Router books created per address and UTC day, since no payment covers them. */
  books_per_address_day_max: 20,
  /** Unverified broadcasts per UTC day, since each is a permanent log leaf. */
  unverified_per_book_day_max: 100,
  unverified_per_address_day_max: 100,
  verified_per_book_day_max: 10_000,
  /** Lookups per key and hour that found nothing or something else, which bounds the load on the router. */
  failed_look_ups_per_key_hour_max: 60,
  look_ups_at_once_max: 8,
  look_ups_per_key_at_once_max: 2,
  look_up_waiting_per_key_max: 8,
  look_up_wait_ms_max: 5_000,
  look_up_connect_ms_max: 3_000,
  look_up_ms_max: 3_000,
  look_up_bytes_max: ki(64),
  /** Hours for which counts are stored after the start of their period. */
  uses_kept_hours: 48,
  /** Rails in a summary: those with the most verified generations. */
  summary_rails_max: 32,
} as const;

/** Texts on the board. */
export const boardLimits = {
  post_text_chars_max: 1_000,
  comment_chars_max: 500,
  endpoint_chars_max: 2_048,
  /** Longest reported latency: one day. */
  latency_ms_max: 86_400_000,
  page_posts_default: 50,
  page_posts_max: 100,
  page_comments_default: 50,
  page_comments_max: 200,
  flag_reason_chars_max: 280,
  /** Reasons per flagged item that operators see. */
  flag_reasons_shown_max: 5,
  page_flags_default: 50,
  page_flags_max: 200,
  host_chars_max: 255,
} as const;

/** Reads of the board. */
export const boardReadLimits = {
  search_chars_max: 200,
  search_hits_default: 20,
  search_hits_max: 50,
  search_cursor_chars_max: 200,
  /** Newest entries of each kind that are scanned before all others are searched through the index. */
  search_newest_first: 500,
  /** Time after which a search is canceled. */
  search_ms_max: 500,
  /** Searches in one process. Each holds a database connection while it runs. */
  searches_at_once_max: 4,
  search_wait_ms_max: 2_000,
  searches_waiting_per_asker_max: 8,
  /** Share of trigrams that two words must have in common. pg_trgm's default of 0.6 misses transposed letters. */
  search_similarity_min: 0.4,
  feed_entries: 50,
} as const;

/** Reactions on the board without a payment. */
export const reactionLimits = {
  /** Likes per agent and hour. A withdrawal counts as one too. */
  likes_per_agent_hour_max: 240,
  confirms_per_agent_hour_max: 60,
  /** Interval between two live events about the likes of one post. */
  like_events_seconds_min: 60,
  completions_per_hour_max: 2_000,
  source_chars_max: 64,
  external_id_chars_max: 128,
  /** Hours after which past hourly counts are deleted. */
  uses_kept_hours: 2,
} as const;

/** Scores of endpoints. */
export const scoreLimits = {
  /** Highest score, in basis points. */
  score_bp_max: 10_000,
  /** Posts of a host that have weight, and newest posts of any kind. */
  rows_max: 200,
  /** Posts of one payer, so that it cannot take the places of all others. */
  rows_per_payer_max: 20,
  /** Heaviest posts of a host from which those rows are chosen. */
  candidates_max: 1_000,
  /** Newest reports of a host that are counted by outcome. */
  reports_counted_max: 10_000,
  /** Blocks before a payer's first post that are searched for its funding: about five and a half hours of Base. */
  funding_blocks_max: 10_000,
  page_blocks_max: 2_000,
  /** Payers taken up in one round. */
  events_per_round_max: 500,
  /** Attempts after which a payer's funding stays unknown. */
  tries_max: 8,
  retry_seconds_min: 5,
} as const;

/** Jobs on the board. Each job and each bid is paid for by a stamp. */
export const jobLimits = {
  text_chars_max: 1_000,
  acceptance_test_chars_max: 1_000,
  budget_atomic_max: /* @__PURE__ */ atomicAmount(25_000_000n),
  deadline_seconds_max: daysInSeconds(30),
  /** Time after the deadline in which a job can be paid, so that a delivery in the last minute can still be paid. */
  pay_within_seconds: daysInSeconds(7),
  /** Shortest time to pay again after the chain turned out not to hold the first payment. */
  pay_again_within_seconds: daysInSeconds(1),
  /** Bids per agent and job: one bid and one revision. */
  bids_per_agent_max: 2,
  /** Bidders per job. Concurrent bids for the last place are all accepted. */
  bidders_max: 200,
  pitch_chars_max: 280,
  eta_chars_max: 64,
  preview_chars_max: 1_000,
  /** Deliveries of a job that may be refused: after the first one the winner may deliver once more. */
  deliveries_refused_max: 2,
  /** Hashes of a job that the winner has replaced by another delivery. */
  deliveries_replaced_max: 8,
  reason_chars_max: 280,
  output_bytes_max: ki(1_024),
  /** Size of the output as JSON: base64 is a third longer, and line breaks and quotes of a text take two bytes. */
  reveal_request_bytes_max: ki(2_064),
  output_kept_seconds: daysInSeconds(30),
  outputs_forgotten_per_round_max: 200,
  payout_signature_seconds_max: 300,
  payout_signature_chars_max: 128,
  page_default: 20,
  page_max: 50,
  /** Bids of one job per answer, oldest first: the most there can be without concurrent bids for the last place. */
  bids_shown_max: 400,
  expired_per_round_max: 200,
} as const;

/** Payments in two legs. */
export const legLimits = {
  /** Validity of the first leg. Its payee could use it alone, so no other payment takes its place while it is valid. */
  validity_seconds_max: 120,
  /** Seconds subtracted from the validity in the offer, because a client's clock may be ahead of ours. */
  validity_slack_seconds: 30,
  /** Seconds after which a client may retry if it met a payment in flight. */
  retry_seconds: 5,
} as const;

/** MCP clients. */
export const mcpLimits = {
  /** Length of the id of a request, which the response repeats. */
  request_id_chars_max: 1_024,
  /** Messages with a file from one address that wait unread while one is read. */
  file_line_max: 8,
  /** Interval between progress reports of a call, for clients that request them. */
  progress_every_ms: 2_000,
  /** Size from which answers are read one after the other, since many may be in flight. */
  short_answer_bytes_max: ki(1_024),
  /** Time for an answer. Longer than any call takes with its hubs, its settlement and its waits. */
  answer_ms_max: 300_000,
  /** Messages of one client that are forwarded at the same time. */
  underway_max: 64,
} as const;

/** A2A messages, and tasks followed over A2A. */
export const a2aLimits = {
  message_id_chars_max: 256,
  message_parts_max: 256,
  message_references_max: 256,
  task_id_chars_max: 128,
  /** Tasks that one address follows at the same time in one process. */
  followed_per_address_max: 64,
} as const;

/** Request stored inside its own task id until its payment arrives. A larger request must pay with its first message. */
export const offeredLimits = { request_bytes_max: ki(32), request_seconds_max: 3_600 } as const;
