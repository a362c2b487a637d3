import type { JsonObject } from '../../../schema/canonical-json.ts';

/** Id of an inflow that the test records. */
export const INFLOW = 'inflow-that-stands';

/** Bodies that each endpoint of a book accepts with a proof. A new endpoint must be added here. */
export const bodiesByDoor: Readonly<Record<string, readonly JsonObject[]>> = {
  'GET get_agent_book': [{}],
  'POST get_agent_book': [{ limit: 5 }, { budget: '900000' }],
  'GET get_book_policy': [{}],
  'POST set_book_policy': [{ policy_type: 'daily_cap', value: '700000' }],
  'GET get_book_alerts': [{}],
  'POST set_book_alerts': [{ burn_factor: 5 }],
  'GET list_assignments': [{}],
  'GET list_approvals': [{}],
  'GET list_sessions': [{}],
  'DELETE revoke_assignment': [{}],
  'GET list_disputes': [{}],
  'POST file_dispute': [{ task_id: INFLOW, claim_type: 'output_missing' }],
  'GET get_dispute': [{}],
  'POST start_reconciliation': [{ wallet: '{agentWallet}', from_block: 0, to_block: 1 }],
  'GET get_reconciliation': [{}],
  'GET get_webhook': [{}],
  'DELETE remove_webhook': [{}],
  'POST ping_webhook': [{}],
  'POST redeliver_webhook': [{ from_position: 1, to_position: 2 }],
  'GET list_dead_letters': [{}],
  'POST simulate_book_policy': [{ policy: { daily_cap: '1' } }],
  'POST ledger_escrow': [{ action: 'status', escrow_id: '{escrow_id}' }],
  'GET list_a2a_escrows': [{}],
  'POST a2a_escrow': [
    {
      action: 'open',
      job_spec_hash: '0'.repeat(64),
      amount: '1',
      parties: { counterparty_agent_id: 'whom an escrow is opened with' },
    },
  ],
  'GET get_book_lineage': [{}],
  'POST record_inflow': [{ allocation: '5' }],
  'POST correct_inflow': [{ task_id: INFLOW, reason: 'It was less.' }],
  'POST ingest_foreign_x402': [],
  'GET get_book_gaps': [{}],
  'GET get_book_total': [{}],
  'GET export_book': [{}],
  'POST export_book': [{ format: 'json' }],
  'GET stream_book_export': [{}],
  'POST stream_book_export': [{ format: 'csv' }],
  'GET stream_book_journal': [{}],
  'POST stream_book_journal': [{ per: 'day' }],
  'POST publish_book_export': [{}],
  'GET get_published_export': [{}],
  'DELETE withdraw_book_export': [{}],
  'POST post_job': [],
  'POST bid_on_job': [],
  'POST pay_job': [],
  'POST pick_bid': [{ agent_id: 1, bid_id: 'bid_of_nobody' }],
  'POST deliver_job': [{ agent_id: 1, output_sha256: '0'.repeat(64) }],
  'POST refuse_delivery': [{ agent_id: 1, output_sha256: '0'.repeat(64), reason: 'It is not all of it' }],
  'POST reveal_job': [{ agent_id: 1, output: 'x', encoding: 'utf8' }],
  'POST challenge_job': [{ agent_id: 1, reason: 'Nothing came' }],
  // No member of this body could vary.
  'POST cancel_job': [],
  'POST flag_job': [],
  'POST create_board_post': [],
  'POST create_board_comment': [],
  'POST confirm_post': [{ agent_id: 1, receipt_ref: 'task_of_nobody' }],
  'POST flag_board_post': [],
  'POST flag_board_comment': [],
  // No member of these bodies could vary.
  'POST take_down_board_post': [],
  'POST take_down_board_comment': [],
  'POST like_post': [],
};
/**
 * Statuses that show that a call was authorised. A second withdrawal of the same object is answered 404, and an agent can have only one
 * running report, so another request for one is answered 409.
 */
export const acceptedStatuses: Readonly<Record<string, readonly number[]>> = {
  DELETE: [200, 404],
  POST: [200, 201, 202],
  'POST start_reconciliation': [202, 409],
  // The job or post does not exist, so a 404 shows that the caller was authorised.
  'POST pick_bid': [404],
  'POST deliver_job': [404],
  'POST refuse_delivery': [404],
  'POST reveal_job': [404],
  'POST challenge_job': [404],
  'POST confirm_post': [404],
};
let count = 0;
/** Members that turn a body into a different one. An endpoint that is missing here has no member that could vary. */
export const changedBodies: Readonly<Record<string, (nonce: string, body: JsonObject) => JsonObject>> = {
  get_agent_book: (_, body): JsonObject =>
    'limit' in body ? { limit: 1 + (++count % 200) } : { budget: String(900_000 + ++count) },
  export_book: nonce => ({ intent_id: nonce }),
  publish_book_export: nonce => ({ intent_id: nonce }),
  record_inflow: nonce => ({ model: nonce }),
  redeliver_webhook: () => ({ to_position: 2 + ++count }),
  correct_inflow: nonce => ({ reason: nonce }),
  file_dispute: nonce => ({ evidence: { note: nonce } }),
  set_book_alerts: () => ({ budget_end_hours: ++count }),
  set_book_policy: () => ({ value: String(700_000 + ++count) }),
  simulate_book_policy: () => ({ limit: ++count }),
  a2a_escrow: nonce => ({ job_id: nonce }),
  ledger_escrow: () => ({}),
  pick_bid: nonce => ({ bid_id: nonce }),
  deliver_job: () => ({ output_sha256: String(++count).padStart(64, '0') }),
  refuse_delivery: () => ({ output_sha256: String(++count).padStart(64, '0') }),
  reveal_job: nonce => ({ output: nonce }),
  challenge_job: () => ({ reason: `Nothing came on day ${++count}` }),
  confirm_post: nonce => ({ receipt_ref: nonce }),
  start_reconciliation: () => ({ to_block: 1 + ++count }),
  // What these endpoints export depends on no argument.
  stream_book_export: () => ({}),
  stream_book_journal: () => ({}),
};
