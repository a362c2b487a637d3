import { atomicAmount } from './amount.ts';

/** The specification's table of limits, and those that it leaves to us; units stand last in each name. */
export const limits = {
  call_price_atomic: atomicAmount(2000n),
  stamp_price_atomic: atomicAmount(2000n),
  /** Of the legacy rail's labels: we are paid in USDC whatever the rail says, and nothing is taken off that. */
  tfuel_fee_bps: 0,
  /** From this amount on GET /prove-result shows the settlement unasked. */
  settlement_proof_gate_atomic: atomicAmount(1_000_000n),
  book_page_rows_default: 50,
  book_page_rows_max: 200,
  /** Of an id or a reference by which rows are looked for. */
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
  tool_description_chars_max: 64 * 1024,
  /** Of one schema, of a tool's arguments or of an answer. */
  tool_schema_depth_max: 48,
  tool_schema_members_max: 10_000,
  /** Of a member that is passed on to hubs without being known here. */
  forwarded_depth_max: 32,
  stop_texts_max: 4,
  stop_text_chars_max: 500,
  image_prompt_chars_max: 32_000,
  image_side_pixels_min: 64,
  image_side_pixels_max: 2_048,
  image_url_chars_max: 2_048,
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
