import { endpointsOf } from '../../../schema/paid-operations.ts';
import { ApprovalAnswerRequest } from '../../../schema/requests/approval.ts';
import { ApprovalNoun, ApprovalsNoun } from '../../../schema/session/approval.ts';
import { inputType, objectType } from '../../graph-type.ts';
import type { Vault } from '../../vault.ts';
import { openAskedText } from './asked-text.ts';
import { type FoundApproval, passesUntil, statusOfApproval } from './find.ts';

/* How the graph shows approval requests, and takes an answer by the wallet. */

export const ShownApproval = objectType(
  'ApprovalRequest',
  'A call that the book has refused because it requires an approval: who, what, how much, until when.',
  ApprovalNoun,
);
export type ShownApproval = InstanceType<typeof ShownApproval>;
export const Approvals = objectType(
  'Approvals',
  'Calls of a book that require an approval, or required one.',
  ApprovalsNoun,
);
export type Approvals = InstanceType<typeof Approvals>;
export const ApprovalAnswerInput = inputType(
  'ApprovalAnswerInput',
  "An answer by the agent's wallet.",
  ApprovalAnswerRequest,
);

export function shownApproval({ vault }: { readonly vault: Pick<Vault, 'open'> }, found: FoundApproval): ShownApproval {
  const { taken: _taken, ttlSeconds: _ttl, now: _now, sessionPath: _path, agentAddress: _key, ...said } = found;
  const { decision: _decision, textBox, ...shown } = said;
  const status = statusOfApproval(found);
  const text = status === 'open' ? openAskedText(vault, found.approvalId, textBox) : null;
  return {
    ...shown,
    requestText: text?.request_text ?? null,
    requestTextCharacters: text?.request_text_characters ?? null,
    note: text?.note ?? null,
    status,
    doors: endpointsOf(found.field),
    passesUntil: passesUntil(found),
  };
}
