import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { ProofOutcome, SettledBy } from '../../../schema/receipt-payload.ts';
import type { Tx } from '../../database.ts';

/** What is known since of a payment that was vouched for when its receipt was signed. */
export interface UnsignedFacts {
  readonly proof_outcome: ProofOutcome;
  readonly settled_by: SettledBy;
  readonly ingress_receipt: JsonObject | null;
  readonly omission_rule: string | null;
}

/** Writes the unsigned facts beside a signed receipt; what was signed stays as it is. */
export function setUnsignedFacts(tx: Tx, task_id: string, since: UnsignedFacts): void {
  tx.write({
    name: 'set unsigned facts',
    text: `update receipt set proof_outcome = $2, settled_by = $3, ingress_receipt = $4, omission_rule = $5 where task_id = $1`,
    values: [task_id, since.proof_outcome, since.settled_by, since.ingress_receipt, since.omission_rule],
  });
}

/** The whole answer that the same payment brought later, where the one that its receipt is of did not come to its end. */
export type AnsweredAgain = {
  /** RFC 3339, UTC. */
  readonly at: string;
  /** Of the output, by the rule of the receipt policy; null where what was sold has none. */
  readonly output_sha256: string | null;
  /** Which time the work was done once more, from 1. */
  readonly rerun: number;
} & Reanswered;

/** Who gave that answer: the signed members of these names are of the first attempt. */
type Reanswered = {
  readonly hub: string;
  /** The model that the hub was asked for. */
  readonly model: string;
  /** The model that the hub named in its answer; null where it named none. */
  readonly answered_model: string | null;
  /** By the rule of the signed member of the same name; null where that is left out. */
  readonly answered_catalogue_model: string | null;
};

/** Beside the receipt, also of a payer who has no book. */
export function setAnsweredAgain(tx: Tx, task_id: string, answered: AnsweredAgain): void {
  tx.write({
    name: 'set answered again',
    text: 'update receipt set answered_again = $2 where task_id = $1',
    values: [task_id, JSON.stringify(answered)],
  });
}
