import { noCommitment } from '../../../schema/output-commitment.ts';
import { iso } from '../../../subgraphs/clock.ts';
import { type PreparedReceipt, prepareReceipt } from '../../../subgraphs/receipt/receipt/issue.ts';
import type { HandedReceipt, HandOffs } from '../../../subgraphs/session/delegation/hand-offs.ts';
import type { Ground } from '../ground.ts';
import type { FormParts } from './forms.ts';
import { type RecordKind, recordAlone } from './record.ts';

interface HandingOn {
  readonly handed: HandedReceipt;
  /** The receipt, signed except for its place in the log. */
  readonly prepared: PreparedReceipt;
}

/** Opens the recording of work that one agent hands to another, without money. */
export function openHandOffs(ground: Ground, forms: FormParts): HandOffs {
  const record = recordAlone(ground, handedOnKind);
  return {
    async record(handed) {
      ground.log.known.requireSound();
      const prepared = prepareHandOff(forms, handed);
      await ground.faults?.reach('before_record');
      await record({ handed, prepared });
    },
  };
}

/**
 * Takes the act's nonce, the name and the leaf in one commit, with the Idempotency-Key if there is one. Lock order: key → nonce → name →
 * log head → sessions. Nonces and names of several items are not sorted, so each item is recorded alone.
 */
const handedOnKind: RecordKind<HandingOn, 'recorded'> = {
  async take(tx, items) {
    for (const { handed } of items) await handed.take(tx);
    return {
      append: async () => items.map(({ prepared }) => ({ prepared, landing: null })),
      async end() {
        for (const { handed } of items) await handed.settle(tx);
        return items.map(() => 'recorded' as const);
      },
    };
  },
};

const intent = { job_kind: 'other', resource: null, intent_id: null, attempt_index: null };
const output_commitment = noCommitment('no_output');

function prepareHandOff({ issuer, clock, profile }: FormParts, handed: HandedReceipt): PreparedReceipt {
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
