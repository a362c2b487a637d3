import { atomicAmount } from './amount.ts';

/** The specification's table of limits, and those that it leaves to us; units stand last in each name. */
export const limits = {
  call_price_atomic: atomicAmount(2000n),
  stamp_price_atomic: atomicAmount(2000n),
  book_page_rows_default: 50,
  book_page_rows_max: 200,
  wallet_signature_age_seconds_max: 300,
  wallet_signature_ahead_seconds_max: 30,
  book_proof_window_seconds: 300,
  temperature_max: 2,
  model_id_chars_max: 200,
  intent_id_chars_max: 128,
  request_bytes_max: 1024 * 1024,
  /** A refused request's body up to this is read away so that the connection lives on; more, and it is closed. */
  unread_body_drained_bytes_max: 64 * 1024,
  linger_ms_max: 1_000,
  path_parameter_chars_max: 200,
  answer_bytes_max: 4 * 1024 * 1024,
  answer_kept_hours: 24,
  hub_timeout_ms: 60_000,
  /** Over all hubs that one call asks: the claim of a call must outlive it. */
  hubs_timeout_ms: 120_000,
  hub_connections_max: 128,
  /** A hub that failed is asked last for so long, not never: another may be down too. */
  hub_rest_ms: 10_000,
  payment_header_bytes_max: 16 * 1024,
  payment_timeout_seconds_max: 300,
  /** Shorter than this and the authorisation may expire before our transaction is mined. */
  payment_validity_seconds_min: 6,
  /** Of the chain's time: the head that we know may be one block (2 s) old, and the next takes what we send now. */
  payment_settle_seconds_min: 4,
  /** Longer, and a payment that came to nothing would have to be watched for ever. */
  payment_validity_seconds_max: 31 * 24 * 3600,
  group_commit_items_max: 64,
  settlement_batch_authorisations_max: 100,
  graphql_tokens_max: 2_000,
  /** Parsed documents that are kept; longer ones are parsed each time. */
  graphql_documents_kept_max: 1_000,
  graphql_document_kept_chars_max: 16 * 1024,
  socket_message_bytes_max: 64 * 1024,
  socket_subscriptions_max: 50,
  feed_page_events_max: 200,
  board_page_posts_max: 100,
} as const;
