import { noCommitment } from '../../../schema/output-commitment.ts';
import { collect } from '../../../subgraphs/book/ledger/collect.ts';
import { iso } from '../../../subgraphs/clock.ts';
import { lockLogHead } from '../../../subgraphs/receipt/log/head.ts';
import { type PreparedReceipt, prepareReceipt } from '../../../subgraphs/receipt/receipt/issue.ts';
import type { HandedReceipt, HandOffs } from '../../../subgraphs/session/delegation/hand-offs.ts';
import { leaveHead } from './leave-head.ts';
import type { ReportingParts } from './record-reports.ts';

/**
 * Receipts of work handed to another agent: the same log and rules as for sales, without money. The act's nonce, the name and the
 * leaf are one commit, with the Idempotency-Key if given. Lock order: key → nonce → name → log head → sessions.
 */
export function openHandOffs(parts: ReportingParts): HandOffs {
  const { database, known_log, issuer, faults } = parts;
  return {
    async record(handed) {
      known_log.requireSound();
      const prepared = prepareHandOff(parts, handed);
      await faults?.reach('before_record');
      const tree_head = await database.transaction(async tx => {
        await handed.take(tx);
        const log = await lockLogHead(tx, known_log);
        const { tree_head } = await collect(tx, issuer, log, [{ prepared, landing: null }]);
        await handed.settle(tx);
        await faults?.reach('in_record');
        return tree_head;
      });
      await leaveHead(parts, tree_head);
    },
  };
}

const intent = { job_kind: 'other', resource: null, intent_id: null, attempt_index: null };
const output_commitment = noCommitment('no_output');

function prepareHandOff({ issuer, clock, profile }: ReportingParts, handed: HandedReceipt): PreparedReceipt {
  const { delegation_hash, valid_after, session_expiry, agent_pubkey, parent_receipt_id, target_agent } = handed;
  return prepareReceipt(issuer, {
    task_id: handed.task_id,
    issued_at: iso(clock.now_ms()),
    hub: '',
    model: '',
    job_kind: intent.job_kind,
    request_hash: handed.request_hash,
    agent_id: null,
    caller_binding: { agent_pubkey },
    session: { delegation_hash, valid_after, session_expiry },
    handed: { parent_receipt_id, target_agent },
    intent_id: null,
    attempt_index: null,
    fulfillment: {
      intent,
      authorization: { payer_wallet: null, delegation_hash, payment_ref: null },
      output_commitment,
    },
    settled_by: null,
    payment: null,
    profile,
  });
}
