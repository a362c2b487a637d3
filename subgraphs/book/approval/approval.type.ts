import { Field, InputType, Int, ObjectType } from 'type-graphql';
import type { MembersOf } from '../../../schema/noun.ts';
import { endpointsOf } from '../../../schema/paid-operations.ts';
import {
  type ApprovalDecision,
  ApprovalNoun,
  ApprovalsNoun,
  approvalDecisions,
  approvalMeans,
  approvalStatuses,
} from '../../../schema/session/approval.ts';
import { wordEnum } from '../../graph-enum.ts';
import { showMembers } from '../../graph-type.ts';
import type { Vault } from '../../vault.ts';
import { openAskedText } from './asked-text.ts';
import { type FoundApproval, passesUntil, statusOfApproval } from './find.ts';

export const ApprovalDecisionWord = wordEnum(approvalDecisions);
const ApprovalMeansWord = wordEnum(approvalMeans);
const ApprovalStatusWord = wordEnum(approvalStatuses);

const Approval = class {} as new () => MembersOf<typeof ApprovalNoun>;
const ApprovalsPage = class {} as new () => MembersOf<typeof ApprovalsNoun>;

@ObjectType('ApprovalRequest', {
  description: 'A call that the book has refused for want of an approval: who, what, how much, until when.',
})
export class ShownApproval extends Approval {}

@ObjectType({ description: 'Calls of a book that want an approval, or wanted one.' })
export class Approvals extends ApprovalsPage {}

showMembers(ShownApproval, ApprovalNoun, { status: ApprovalStatusWord, decided_by: ApprovalMeansWord });
showMembers(Approvals, ApprovalsNoun, { approvals: ShownApproval });

@InputType({ description: "An answer by the agent's wallet." })
export class ApprovalAnswerInput {
  @Field(() => ApprovalDecisionWord, { description: 'What is answered.' }) decision!: ApprovalDecision;
  @Field(() => String, {
    description:
      'Over `svc.approval.<decision>|<base URL of this service>|<approval_id>|<request_hash>|<unix_seconds>`.',
  })
  walletSignature!: string;
  @Field(() => Int, { description: 'The Unix seconds in the signed text: now.' }) signatureTimestamp!: number;
}

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
