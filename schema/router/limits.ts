/** Limits of router books and of what is broadcast to them, units last in each name. */
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
  look_up_bytes_max: 64 * 1024,
  /** Counts are kept for so long after the time that they are of began. */
  uses_kept_hours: 48,
  /** Of a summary: the rails with the most verified generations. */
  summary_rails_max: 32,
} as const;
