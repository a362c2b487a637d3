import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { ProofOutcome, SettledBy } from '../../../schema/receipt-payload.ts';
import type { AnsweredAgain } from '../../../schema/receipt-shapes.ts';
import type { Tx } from '../../database.ts';

/** What became known after signing about a payment that was only vouched for when its receipt was signed. */
export interface UnsignedFacts {
  readonly proof_outcome: ProofOutcome;
  readonly settled_by: SettledBy;
  readonly ingress_receipt: JsonObject | null;
  readonly omission_rule: string | null;
}

/** Writes the unsigned facts to the row of a signed receipt. What was signed does not change. */
export function setUnsignedFacts(tx: Tx, task_id: string, since: UnsignedFacts): void {
  tx.write({
    name: 'set unsigned facts',
    text: `update receipt set proof_outcome = $2, settled_by = $3, ingress_receipt = $4, omission_rule = $5 where task_id = $1`,
    values: [task_id, since.proof_outcome, since.settled_by, since.ingress_receipt, since.omission_rule],
  });
}

/** Writes the later answer to the row of the receipt, which also exists for a payer without a book. */
export function setAnsweredAgain(tx: Tx, task_id: string, answered: AnsweredAgain): void {
  tx.write({
    name: 'set answered again',
    text: 'update receipt set answered_again = $2 where task_id = $1',
    values: [task_id, JSON.stringify(answered)],
  });
}
