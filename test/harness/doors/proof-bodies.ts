import type { JsonObject } from '../../../schema/canonical-json.ts';

/** An inflow that stands. */
export const INFLOW = 'inflow-that-stands';

/** Every door of a book that a proof opens, with a body that it takes: those to come are wanted here. */
export const bodies: Readonly<Record<string, readonly JsonObject[]>> = {
  'GET get_agent_book': [{}],
  'POST get_agent_book': [{ limit: 5 }, { budget: '900000' }],
  'GET get_book_policy': [{}],
  'POST set_book_policy': [{ policy_type: 'daily_cap', value: '700000' }],
  'GET get_book_alerts': [{}],
  'POST set_book_alerts': [{ burn_factor: 5 }],
  'GET list_assignments': [{}],
  'DELETE revoke_assignment': [{}],
  'POST simulate_book_policy': [{ policy: { daily_cap: '1' } }],
  'GET get_book_lineage': [{}],
  'POST record_inflow': [{ allocation: '5' }],
  'POST correct_inflow': [{ task_id: INFLOW, reason: 'It was less.' }],
  'GET get_book_gaps': [{}],
  'GET export_book': [{}],
  'POST export_book': [{ format: 'json' }],
  'GET stream_book_export': [{}],
  'POST stream_book_export': [{ format: 'csv' }],
  'GET stream_book_journal': [{}],
  'POST stream_book_journal': [{ per: 'day' }],
  'POST publish_book_export': [{}],
  'GET get_published_export': [{}],
  'DELETE withdraw_book_export': [{}],
};
/** What is withdrawn once is not there to be withdrawn again: 404 to whoever may. */
export const opened: Readonly<Record<string, readonly number[]>> = { DELETE: [200, 404], POST: [200, 201] };
let count = 0;
/** What makes a body another one, where a member that is not known is refused. */
export const others: Readonly<Record<string, (nonce: string) => JsonObject>> = {
  export_book: nonce => ({ intent_id: nonce }),
  publish_book_export: nonce => ({ intent_id: nonce }),
  record_inflow: nonce => ({ model: nonce }),
  correct_inflow: nonce => ({ reason: nonce }),
  set_book_alerts: () => ({ budget_end_hours: ++count }),
  set_book_policy: () => ({ value: String(700_000 + ++count) }),
  simulate_book_policy: () => ({ limit: ++count }),
  // Read whole, whatever else they are asked.
  stream_book_export: () => ({}),
  stream_book_journal: () => ({}),
};
