import { atomicAmount } from './amount.ts';

/** The specification's table of limits, and those that it leaves to us; units stand last in each name. */
export const limits = {
  call_price_atomic: atomicAmount(2000n),
  stamp_price_atomic: atomicAmount(2000n),
  book_page_rows_default: 50,
  book_page_rows_max: 200,
  wallet_signature_age_seconds_max: 300,
  wallet_signature_ahead_seconds_max: 30,
  /** Contract wallets sign at length (WebAuthn, ERC-6492 with its factory's call), as in payments. */
  wallet_signature_chars_max: 2 + 2 * 6_000,
  book_proof_window_seconds: 300,
  temperature_max: 2,
  model_id_chars_max: 200,
  intent_id_chars_max: 128,
  request_bytes_max: 1024 * 1024,
  chat_messages_max: 5_000,
  /** A refused request's body up to this is read away so that the connection lives on; more, and it is closed. */
  unread_body_drained_bytes_max: 64 * 1024,
  linger_ms_max: 1_000,
  path_parameter_chars_max: 200,
  answer_bytes_max: 4 * 1024 * 1024,
  answer_kept_hours: 24,
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
  hub_connections_max: 128,
  /** A hub that failed is asked last for so long, not never: another may be down too. */
  hub_rest_ms: 10_000,
  payment_header_bytes_max: 16 * 1024,
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
  group_commit_items_max: 64,
  /** Computed again before anything is served: half a second of work. The older ones follow while it is served. */
  log_audit_leaves_max_at_start: 20_000,
  settlement_batch_authorisations_max: 100,
  /** Of one contract wallet's payment, its deployment and its own check of the signature included: no more is lost on it. */
  wallet_gas_max: 500_000,
  /** After a contract wallet's payment was reverted on the chain, though its simulation had passed, none of its is taken. */
  wallet_reverted_rest_seconds: 600,
  graphql_tokens_max: 2_000,
  /** Parsed documents that are kept; longer ones are parsed each time. */
  graphql_documents_kept_max: 1_000,
  graphql_document_kept_chars_max: 16 * 1024,
  socket_message_bytes_max: 64 * 1024,
  socket_subscriptions_max: 50,
  feed_page_events_max: 200,
  board_page_posts_max: 100,
} as const;
