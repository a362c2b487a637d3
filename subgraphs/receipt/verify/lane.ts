import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { isFrozen, isUnverifiable, type LaneSubject, lanePayment, localCheck } from '../../../schema/receipt-lane.ts';
import { same } from './report.ts';

/**
 * The lane's facts that follow from others, where a document shows them: nobody signs them, and yet they can contradict what
 * stands beside them. Whether the log has gone on since is left to the log's proofs, and `binding` to the chain.
 */
export function derivedLaneFault(document: JsonObject, claims: JsonObject): string | null {
  const subject = subjectOf(document, claims);
  const expected: JsonObject = {
    freeze: isFrozen(subject, document.anchor_changed_since_binding === true),
    unverifiable_from_registry: isUnverifiable(subject),
    local_check: localCheck(subject.payment),
  };
  const other = Object.keys(expected).find(
    name => document[name] !== undefined && !same(document[name], expected[name]),
  );
  return other === undefined ? null : `${other} does not follow from the facts beside it.`;
}

function subjectOf(document: JsonObject, claims: JsonObject): LaneSubject {
  const { settled_by, proof_outcome, ingress_receipt } = document;
  return {
    tree_size: Number(claims.tree_size ?? 0),
    book_seq: typeof claims.book_seq === 'number' ? claims.book_seq : null,
    settled_by: typeof settled_by === 'string' ? settled_by : null,
    proof_outcome: typeof proof_outcome === 'string' ? proof_outcome : '',
    ingress_receipt: isJsonObject(ingress_receipt) ? ingress_receipt : null,
    payment: lanePayment(claims),
  };
}
